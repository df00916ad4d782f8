package config

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// Values are the settings of one run, checked.
type Values struct{ k *koanf.Koanf }

// of returns the settings of a kind of commands.
func of(use Use) []Setting {
	return slices.DeleteFunc(Settings(), func(s Setting) bool { return s.Use != use })
}

// Define adds a flag for every setting of a kind of commands to flags.
func Define(flags *pflag.FlagSet, use Use) {
	for _, s := range of(use) {
		doc := fmt.Sprintf("%s (%s)", s.Doc, s.Variable())
		switch {
		case s.Flag() == "":
		case s.Kind == toggle:
			flags.Bool(s.Flag(), s.Default == "true", doc)
		case s.Kind == list:
			flags.StringArray(s.Flag(), strings.Split(s.Default, ","), doc)
		default:
			flags.String(s.Flag(), s.Default, doc)
		}
	}
}

// Load merges defaults, configuration file, environment (as os.Environ gives
// it) and the flags that were set, and checks every value. The error names the
// setting and where it came from.
func Load(flags *pflag.FlagSet, environ []string, use Use) (*Values, error) {
	values := map[string]any{}
	for _, s := range of(use) {
		values[s.Name] = s.parse(s.Default)
	}
	variables, err := fromEnvironment(environ, use)
	if err != nil {
		return nil, err
	}
	set := map[string]any{}
	flags.Visit(func(f *pflag.Flag) {
		for _, s := range of(use) {
			if s.Flag() != f.Name {
				continue
			}
			if s.Kind == list {
				given, _ := flags.GetStringArray(f.Name)
				set[s.Name] = splitAll(given)
			} else {
				set[s.Name] = f.Value.String()
			}
		}
	})
	k := koanf.New("\x00")
	path, _ := set["config"].(string)
	if path == "" {
		path, _ = variables["config"].(string)
	}
	layers := []layer{{"default", values}}
	if path != "" {
		fromFile, err := readFile(path, use)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer{path, fromFile})
	}
	layers = append(layers, layer{"environment", variables}, layer{"command line", set})
	for _, l := range layers {
		if err := l.check(use); err != nil {
			return nil, err
		}
		if err := k.Load(confmap.Provider(l.values, ""), nil); err != nil {
			return nil, fmt.Errorf("load settings: %w", err)
		}
	}
	return &Values{k}, nil
}

// layer is one source of values.
type layer struct {
	name   string
	values map[string]any
}

func (l layer) check(use Use) error {
	for _, s := range of(use) {
		v, ok := l.values[s.Name]
		if !ok {
			continue
		}
		items := []string{fmt.Sprint(v)}
		if s.Kind == list {
			items, _ = v.([]string)
			if len(items) == 0 {
				return fmt.Errorf("%s: %s is empty", l.name, s.Name)
			}
		}
		for _, item := range items {
			if err := s.Kind.check(item); err != nil {
				return fmt.Errorf("%s: %s: %w", l.name, s.Name, err)
			}
			if s.Check == nil {
				continue
			}
			if err := s.Check(item); err != nil {
				return fmt.Errorf("%s: %s: %w", l.name, s.Name, err)
			}
		}
	}
	return nil
}

func (s Setting) parse(value string) any {
	if s.Kind == list {
		return splitAll([]string{value})
	}
	return value
}

func splitAll(given []string) []string {
	var out []string
	for _, g := range given {
		for _, item := range strings.Split(g, ",") {
			if item = strings.TrimSpace(item); item != "" {
				out = append(out, item)
			}
		}
	}
	return out
}

// named returns the setting with a key of the file that counts for use, whether
// it does, and whether any commands know it.
func named(name string, use Use) (s Setting, counts, known bool) {
	for _, row := range Settings() {
		if row.Name != name {
			continue
		}
		known = true
		if row.Use == use {
			return row, true, true
		}
	}
	return Setting{}, false, known
}

func fromEnvironment(environ []string, use Use) (map[string]any, error) {
	out := map[string]any{}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		i := slices.IndexFunc(Settings(), func(s Setting) bool { return s.Variable() == name })
		if i < 0 {
			return nil, fmt.Errorf("environment: no setting has the variable %s", name)
		}
		if s, counts, _ := named(Settings()[i].Name, use); counts {
			out[s.Name] = s.parse(value)
		}
	}
	return out, nil
}

func readFile(path string, use Use) (map[string]any, error) {
	k := koanf.New("\x00")
	if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
		if os.IsNotExist(err) {
			return nil, fmt.Errorf("config: %s does not exist", path)
		}
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	out := map[string]any{}
	for name, v := range k.All() {
		s, counts, known := named(name, use)
		if !known {
			return nil, fmt.Errorf("%s: no setting is named %q", path, name)
		}
		if !counts {
			continue
		}
		if items, ok := v.([]any); ok {
			var texts []string
			for _, item := range items {
				texts = append(texts, fmt.Sprint(item))
			}
			out[name] = splitAll(texts)
			continue
		}
		out[name] = s.parse(fmt.Sprint(v))
	}
	return out, nil
}

// String returns a text setting.
func (v *Values) String(name string) string { return v.k.String(name) }

// List returns a list setting.
func (v *Values) List(name string) []string { return v.k.Strings(name) }

// Bool returns a toggle.
func (v *Values) Bool(name string) bool { return v.k.Bool(name) }

// Int returns a number.
func (v *Values) Int(name string) int64 { return v.k.Int64(name) }

// Duration returns a duration.
func (v *Values) Duration(name string) time.Duration { return v.k.Duration(name) }

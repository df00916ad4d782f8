package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"milena/evolution"
	"milena/serde/schema"
)

// ProjectFile is where the settings of a project's schemas stand.
const ProjectFile = "milena.yaml"

// projectBytesMax bounds that file.
const projectBytesMax = 1 << 20

// Project is what a project says about its schemas.
type Project struct {
	// Level and Policy apply where nothing nearer says otherwise; empty means
	// those of the registry, else BACKWARD and STRICT.
	Level  string `yaml:"level"`
	Policy string `yaml:"policy"`
	// Roots are folders in which references are looked for, before all others.
	Roots []string `yaml:"roots"`
	// Ignore are patterns of files that are no schemas of their own. Others may
	// refer to them.
	Ignore   []string          `yaml:"ignore"`
	Subjects []SubjectRule     `yaml:"subjects"`
	Waivers  []WaiverRule      `yaml:"waivers"`
	Lint     map[string]string `yaml:"lint"` // by rule: off, warning or error
}

// SubjectRule says which subject the files of a pattern belong to. In a
// pattern, * is anything but a slash, ** anything, and {name} a part of a name
// that the subject may use.
type SubjectRule struct {
	Files   string `yaml:"files"`
	Subject string `yaml:"subject"`
	Level   string `yaml:"level"`
	Policy  string `yaml:"policy"`
	Format  string `yaml:"format"` // AVRO, JSON or PROTOBUF, if the file doesn't tell

	pattern *regexp.Regexp
}

// WaiverRule lets findings pass for a while. Subject and Rule may have *.
type WaiverRule struct {
	Subject string `yaml:"subject"`
	Rule    string `yaml:"rule"`
	Path    string `yaml:"path"` // empty is any
	Reason  string `yaml:"reason"`
	Expires string `yaml:"expires"` // YYYY-MM-DD, the last day

	last time.Time
}

// LoadProject reads the settings of a file. A file that doesn't exist is an
// error only if it must.
func LoadProject(file string, must bool) (*Project, error) {
	f, err := os.Open(file)
	switch {
	case errors.Is(err, os.ErrNotExist) && !must:
		return &Project{}, nil
	case err != nil:
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	text, err := io.ReadAll(io.LimitReader(f, projectBytesMax))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	p := &Project{}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(p); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := p.Prepare(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// Prepare checks the settings and makes them ready. LoadProject has done so.
func (p *Project) Prepare() error {
	if err := levels(p.Level, p.Policy); err != nil {
		return err
	}
	for i := range p.Subjects {
		s := &p.Subjects[i]
		if s.Files == "" {
			return fmt.Errorf("subjects[%d]: files is missing", i)
		}
		if err := levels(s.Level, s.Policy); err != nil {
			return fmt.Errorf("subjects[%d]: %w", i, err)
		}
		switch schema.Type(strings.ToUpper(s.Format)) {
		case "", schema.Avro, schema.JSON, schema.Protobuf:
		default:
			return fmt.Errorf("subjects[%d]: %q is no format", i, s.Format)
		}
		var err error
		if s.pattern, err = pattern(s.Files); err != nil {
			return fmt.Errorf("subjects[%d]: files: %w", i, err)
		}
	}
	for i := range p.Waivers {
		w := &p.Waivers[i]
		if w.Subject == "" || w.Rule == "" || strings.TrimSpace(w.Reason) == "" || w.Expires == "" {
			return fmt.Errorf("waivers[%d]: subject, rule, reason and expires are needed", i)
		}
		day, err := time.Parse(time.DateOnly, w.Expires)
		if err != nil {
			return fmt.Errorf("waivers[%d]: expires: %q is no date such as 2027-01-31", i, w.Expires)
		}
		w.last = day
		for _, g := range []string{w.Subject, w.Rule} {
			if _, err := path.Match(g, ""); err != nil {
				return fmt.Errorf("waivers[%d]: %q: %w", i, g, err)
			}
		}
	}
	return nil
}

func levels(level, policy string) error {
	if _, ok := evolution.ParseLevel(level); !ok && level != "" {
		return fmt.Errorf("%q is no compatibility level", level)
	}
	if _, ok := evolution.ParsePolicy(policy); !ok {
		return fmt.Errorf("%q is neither STRICT nor LENIENT", policy)
	}
	return nil
}

// ParseSubjectRule reads PATTERN=SUBJECT, as the command line has it.
func ParseSubjectRule(text string) (SubjectRule, error) {
	files, subject, ok := strings.Cut(text, "=")
	if !ok || files == "" || subject == "" {
		return SubjectRule{}, fmt.Errorf("%q: want PATTERN=SUBJECT, such as {topic}/value.avsc={topic}-value", text)
	}
	return SubjectRule{Files: files, Subject: subject}, nil
}

// pattern turns a pattern of files into an expression with a group for each
// {name}.
func pattern(text string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString("^")
	for rest := text; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "**/"):
			b.WriteString("(?:.*/)?")
			rest = rest[3:]
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			rest = rest[2:]
		case rest[0] == '*':
			b.WriteString("[^/]*")
			rest = rest[1:]
		case rest[0] == '{':
			name, after, ok := strings.Cut(rest[1:], "}")
			if !ok || !regexp.MustCompile(`^[a-zA-Z_]\w*$`).MatchString(name) {
				return nil, fmt.Errorf("%q: want {name}", text)
			}
			fmt.Fprintf(&b, "(?P<%s>[^/]+?)", name)
			rest = after
		default:
			n := strings.IndexAny(rest, "*{")
			if n < 0 {
				n = len(rest)
			}
			b.WriteString(regexp.QuoteMeta(rest[:n]))
			rest = rest[n:]
		}
	}
	b.WriteString("$")
	return regexp.Compile(b.String())
}

// Subject returns the subject of a file and the rule that says so, nil if it is
// the default: the path without extension.
func (p *Project) Subject(file string) (string, *SubjectRule) {
	stem := strings.TrimSuffix(file, path.Ext(file))
	stem = strings.TrimSuffix(stem, ".schema")
	for i := range p.Subjects {
		s := &p.Subjects[i]
		match := s.pattern.FindStringSubmatch(file)
		if match == nil {
			continue
		}
		if s.Subject == "" {
			return stem, s
		}
		subject := s.Subject
		for g, name := range s.pattern.SubexpNames() {
			if name != "" {
				subject = strings.ReplaceAll(subject, "{"+name+"}", match[g])
			}
		}
		return subject, s
	}
	return stem, nil
}

// ignored reports whether a file is no schema of its own.
func (p *Project) ignored(file string) (bool, error) {
	for _, text := range p.Ignore {
		re, err := pattern(text)
		if err != nil {
			return false, fmt.Errorf("ignore: %w", err)
		}
		if re.MatchString(file) {
			return true, nil
		}
	}
	return false, nil
}

// waive returns the waiver of a finding, and whether it has ended before today.
func (p *Project) waive(subject, rule, at string, today time.Time) (found *WaiverRule, ended bool) {
	i := slices.IndexFunc(p.Waivers, func(w WaiverRule) bool {
		return matches(w.Subject, subject) && matches(w.Rule, rule) && (w.Path == "" || w.Path == at)
	})
	if i < 0 {
		return nil, false
	}
	w := &p.Waivers[i]
	return w, today.After(w.last.Add(24*time.Hour - 1))
}

// matches compares with a pattern in which * also stands for slashes.
func matches(glob, text string) bool {
	ok, err := path.Match(strings.ReplaceAll(glob, "/", "\x00"), strings.ReplaceAll(text, "/", "\x00"))
	return err == nil && ok
}

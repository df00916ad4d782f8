package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func load(t *testing.T, args, environ []string) (*Values, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	Define(flags, Serve)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	return Load(flags, environ, Serve)
}

func TestPrecedence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	if err := os.WriteFile(path, []byte("data-dir: from-file\nlog-level: warn\nroles: [registry, broker]\ndefault-partitions: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := load(t, []string{"--config", path, "--log-level=error", "--kafka-listen", "in=:1@a:2", "--kafka-listen", "out=:3@b:4"},
		[]string{"MILENA_LOG_LEVEL=debug", "MILENA_DATA_DIR=from-env", "HOME=/x", "MILENA_SHUTDOWN_TIMEOUT=1500ms"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ got, want any }{
		{v.String("data-dir"), "from-env"},
		{v.String("log-level"), "error"},
		{strings.Join(v.List("roles"), " "), "registry broker"},
		{v.Int("default-partitions"), int64(3)},
		{v.Duration("shutdown-timeout"), 1500 * time.Millisecond},
		{v.Bool("dev"), false},
		{v.Bool("auto-create-topics"), true},
		{strings.Join(v.List("kafka-listen"), " "), "in=:1@a:2 out=:3@b:4"},
		{v.String("registry-listen"), ":8081"},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("data-dirr: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name          string
		args, environ []string
		want          string
	}{
		{"unknown flag", []string{"--datadir", "x"}, nil, "unknown flag"},
		{"unknown variable", nil, []string{"MILENA_DATADIR=x"}, "no setting has the variable MILENA_DATADIR"},
		{"unknown key", []string{"--config", bad}, nil, `no setting is named "data-dirr"`},
		{"no file", []string{"--config", filepath.Join(dir, "none")}, nil, "does not exist"},
		{"role", []string{"--roles", "registry,brooker"}, nil, `roles: "brooker" is not one of`},
		{"empty roles", []string{"--roles", ","}, nil, "roles is empty"},
		{"port", []string{"--admin-listen", "localhost"}, nil, "has no port"},
		{"port range", []string{"--admin-listen", ":70000"}, nil, "from 0 to 65535"},
		{"number", nil, []string{"MILENA_DEFAULT_PARTITIONS=0"}, "whole number from 1"},
		{"number too large", []string{"--default-partitions", "4294967297"}, nil, "from 1 to 10000"},
		{"no directory", []string{"--data-dir", ""}, nil, "data-dir: is empty"},
		{"url without scheme", []string{"--registry-url", "registry:8081"}, nil, "registry-url: want http://HOST:PORT"},
		{"one url of two", []string{"--registry-url", "http://a:1,b:2"}, nil, "registry-url: want http://HOST:PORT"},
		{"duration", []string{"--shutdown-timeout", "5"}, nil, "not a duration"},
		{"bool", nil, []string{"MILENA_DEV=maybe"}, "neither true nor false"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := load(t, tc.args, tc.environ)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

// TestClient: commands that talk to a registry share file and environment with
// serve; each takes what is its own, and a typo is an error to both.
func TestClient(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.yaml")
	text := "data-dir: somewhere\nregistry-url: http://file:1\nregistry-token: t\nregistry-context: .file\nregistry-timeout: 5s\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"MILENA_REGISTRY_PASSWORD=p", "MILENA_REGISTRY_CONTEXT=.env", "MILENA_ROLES=brooker", "MILENA_CONFIG=" + path}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	Define(flags, Client)
	if err := flags.Parse([]string{"--registry", "http://flag:2", "--timeout=7s"}); err != nil {
		t.Fatal(err)
	}
	v, err := Load(flags, environ, Client)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"registry-url": "http://flag:2", "registry-token": "t", "registry-context": ".env", "registry-password": "p", "data-dir": "", "roles": "",
	} {
		if got := v.String(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if d := v.Duration("registry-timeout"); d != 7*time.Second {
		t.Errorf("timeout %v", d)
	}
	for _, name := range []string{"password", "token", "user", "registry-token"} {
		if flags.Lookup(name) != nil {
			t.Errorf("a flag for a secret: %s", name)
		}
	}
	if _, err := Load(flags, []string{"MILENA_REGISTRY_TOKENN=x"}, Client); err == nil {
		t.Error("an unknown variable")
	}
	s, err := load(t, []string{"--config", path}, []string{"MILENA_REGISTRY_PASSWORD=p"})
	if err != nil || s.String("data-dir") != "somewhere" || s.String("registry-url") != "http://file:1" || s.String("registry-token") != "" {
		t.Errorf("serve: %v", err)
	}
}

// TestDocumented wants a sentence for each setting, and no two with one name or
// flag among those of one kind of commands.
func TestDocumented(t *testing.T) {
	type key struct {
		use  Use
		name string
	}
	names, flags := map[key]bool{}, map[key]bool{}
	for _, s := range Settings() {
		name, flag := key{s.Use, s.Name}, key{s.Use, s.Flag()}
		if s.Doc == "" || names[name] || s.Flag() != "" && flags[flag] {
			t.Errorf("%s: no text, or there twice", s.Name)
		}
		names[name], flags[flag] = true, true
	}
}

// TestAskedFor wants every setting that the node asks for to be in the table:
// an unknown name would read as empty.
func TestAskedFor(t *testing.T) {
	asked := regexp.MustCompile(`settings\.(?:String|List|Bool|Int|Duration)\("([a-z-]+)"\)`)
	files, err := filepath.Glob("../node/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	found := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range asked.FindAllStringSubmatch(string(text), -1) {
			found++
			if !slices.ContainsFunc(Settings(), func(s Setting) bool { return s.Name == m[1] }) {
				t.Errorf("%s asks for %q, which is no setting", f, m[1])
			}
		}
	}
	if found == 0 {
		t.Error("nothing asks for a setting")
	}
}

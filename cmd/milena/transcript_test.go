package main

import (
	"bytes"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"milena/cmd/internal/cli"
	"milena/registry"
	"milena/registry/rest"
	"milena/registry/store/memory"
)

// update rewrites the transcripts with what the commands say now.
var update = flag.Bool("update", false, "rewrite the transcripts")

// asMilena makes the test binary be the program.
const asMilena = "TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asMilena) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// startRegistry serves an empty registry and returns its URL.
func startRegistry(t *testing.T) string {
	t.Helper()
	log := memory.New()
	t.Cleanup(func() { _ = log.Close() })
	domain, err := registry.Open(t.Context(), registry.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = domain.Close() })
	server, err := rest.New(domain, rest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server.Handler())
	t.Cleanup(web.Close)
	return web.URL
}

// cleanEnvironment takes away what would change the commands' words.
func cleanEnvironment(t *testing.T) {
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "MILENA_") {
			t.Setenv(name, "")
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// runCommand runs a command as main does.
func runCommand(args []string, in string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	cmd := command()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetIn(strings.NewReader(in))
	err := cmd.Execute()
	cli.Print(&errs, "milena", err)
	return out.String(), errs.String(), cli.ExitCode(err)
}

// transcript is a file of testdata/transcripts. Its lines are
//
//	# a remark
//	file NAME      what follows, up to a line "end", is written to the file
//	> ARGS         runs a command; its output follows, errors behind "! ",
//	               and "? CODE" if the exit code is not 0
//
// A second registry is at OTHER, the first one is where commands look.
type transcript struct {
	t       *testing.T
	urls    map[string]string // REGISTRY, OTHER
	replace *strings.Replacer
}

var times = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|"ts": ?\d+|"(createTs|updateTs)": ?\d+`)

func (r *transcript) run(text string) string {
	var out strings.Builder
	lines := strings.SplitAfter(text, "\n")
	answered := false // blank lines may be of an output
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSuffix(lines[i], "\n")
		switch {
		case strings.HasPrefix(line, "file "):
			var content strings.Builder
			out.WriteString(lines[i])
			for i++; i < len(lines) && lines[i] != "end\n"; i++ {
				content.WriteString(lines[i])
				out.WriteString(lines[i])
			}
			out.WriteString("end\n")
			name := strings.TrimPrefix(line, "file ")
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				r.t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(content.String()), 0o644); err != nil {
				r.t.Fatal(err)
			}
		case strings.HasPrefix(line, "> "):
			out.WriteString(lines[i])
			out.WriteString(r.command(strings.TrimPrefix(line, "> ")))
			answered = true
		case line == "" && !answered || strings.HasPrefix(line, "#"):
			out.WriteString(lines[i])
		}
	}
	return out.String()
}

// command runs one command. "< FILE" at its end is its input.
func (r *transcript) command(text string) string {
	text, file, ok := strings.Cut(text, " < ")
	input := ""
	if ok {
		content, err := os.ReadFile(file)
		if err != nil {
			r.t.Fatal(err)
		}
		input = string(content)
	}
	stdout, stderr, code := runCommand(words(r.replace.Replace(text)), input)
	var b strings.Builder
	b.WriteString(stdout)
	if stdout != "" && !strings.HasSuffix(stdout, "\n") {
		b.WriteString("\n")
	}
	for line := range strings.Lines(stderr) {
		b.WriteString("! " + line)
	}
	if code != 0 {
		fmt.Fprintf(&b, "? %d\n", code)
	}
	result := b.String()
	for name, url := range r.urls {
		result = strings.ReplaceAll(result, url, name)
	}
	return times.ReplaceAllStringFunc(result, func(found string) string {
		if name, _, ok := strings.Cut(found, ":"); ok && strings.HasPrefix(name, `"`) {
			return name + ": TIME"
		}
		return "TIME"
	})
}

// words splits at spaces outside of single quotes.
func words(text string) []string {
	var out []string
	var word strings.Builder
	quoted, begun := false, false
	for _, c := range text {
		switch {
		case c == '\'':
			quoted, begun = !quoted, true
		case c == ' ' && !quoted:
			if begun {
				out = append(out, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if begun {
		out = append(out, word.String())
	}
	return out
}

// TestTranscripts runs each file against registries of its own.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d transcripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			path, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			cleanEnvironment(t)
			first, second := startRegistry(t), startRegistry(t)
			t.Setenv("MILENA_REGISTRY_URL", first)
			t.Chdir(t.TempDir())
			r := &transcript{
				t: t, urls: map[string]string{"http://REGISTRY": first, "http://OTHER": second},
				replace: strings.NewReplacer("http://REGISTRY", first, "http://OTHER", second),
			}
			got := r.run(string(want))
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(want) {
				t.Errorf("differs:\n%s", firstDifference(string(want), got))
			}
		})
	}
}

// firstDifference shows where two texts part.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range w {
		if i >= len(g) || w[i] != g[i] {
			return fmt.Sprintf("line %d: want\n%s\ngot\n%s", i+1, strings.Join(w[i:min(i+5, len(w))], "\n"), strings.Join(g[min(i, len(g)):min(i+5, len(g))], "\n"))
		}
	}
	return "more at the end:\n" + strings.Join(g[len(w):], "\n")
}

// TestProgram runs the program itself: output, errors and exit codes leave it.
func TestProgram(t *testing.T) {
	cleanEnvironment(t)
	url := startRegistry(t)
	for _, c := range []struct {
		args           string
		stdout, stderr string
		code           int
	}{
		{"schema list --registry " + url, "no subjects\n", "", 0},
		{"schema get none --registry " + url, "", "milena: Subject 'none' not found. (40401)\n  milena schema list shows the subjects, with --deleted also soft deleted ones\n", 1},
		{"schema list --registry nowhere", "", "milena: command line: registry-url: want http://HOST:PORT or https://HOST:PORT\n", 2},
		{"serve --roles brooker", "", "milena: command line: roles: \"brooker\" is not one of registry, gateway, broker\n", 2},
		{"nonsense", "", "milena: unknown command \"nonsense\" for \"milena\"\n", 2},
	} {
		cmd := exec.Command(os.Args[0], strings.Fields(c.args)...)
		cmd.Env = append(os.Environ(), asMilena+"=1")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // the exit code is looked at
		if stdout.String() != c.stdout || stderr.String() != c.stderr || cmd.ProcessState.ExitCode() != c.code {
			t.Errorf("%s: %q %q %d, want %q %q %d", c.args, &stdout, &stderr, cmd.ProcessState.ExitCode(), c.stdout, c.stderr, c.code)
		}
	}
}

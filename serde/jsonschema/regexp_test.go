package jsonschema

import (
	"strings"
	"testing"
)

// TestRegexp: which patterns Java's Pattern compiles.
func TestRegexp(t *testing.T) {
	for _, good := range []string{
		``, `a`, `^[a-z]+$`, `a|b|`, `(a)(?:b)(?=c)(?!d)(?>e)`, `(?<=a)b`, `(?<!a{1,3})b`, `(?<name>a)\k<name>`, `(?i)a`, `(?i:a)`, `(?im-sx)a`,
		`a*?b++c??`, `a{2}`, `a{2,}`, `a{2,3}`, `a{2}{3}`, `{2}`, `^*`, `]`, `}`, `a}`, `[]a]`, `[^]a]`, `[a[b-d]]`, `[a-z&&[^b]]`, `[a-]`, `[-a]`, `[\d-z]`, `[a&&b]`,
		`\d\D\w\W\s\S\b\B\A\z\Z\G\h\H\v\V\R\X`, `\a\e\f\n\r\t\x41\u0041\x{1F600}\07\377\cA`, `\N{LATIN SMALL LETTER A}`, `\.\*\/\-\_`, `\Q(\E`, `\Q[`, `(a)\1`,
		`\p{L}\p{Lu}\pL\P{Digit}\p{IsAlphabetic}\p{IsLatin}\p{InGreek}\p{script=Cyrillic}\p{gc=Nd}\p{javaLowerCase}\p{Alpha}`, `[\p{L}&&[^\p{Lu}]]`, `(?x) a # (`, `é😀`, `\é`,
	} {
		if err := checkRegexp(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for bad, why := range map[string]string{
		`*`: "dangling", `+a`: "dangling", `a**`: "dangling", `(?i)*`: "dangling", `a|?`: "dangling",
		`(`: "unclosed group", `(a`: "unclosed group", `a)`: "unmatched", `[`: "unclosed character class", `[]`: "unclosed character class", `[a`: "unclosed character class",
		`{`: "illegal repetition", `a{`: "illegal repetition", `a{x}`: "illegal repetition", `a{,5}`: "illegal repetition", `a{3,1}`: "range", `a{2`: "unclosed counted", `a{99999999999}`: "illegal repetition",
		`(?P<x>a)`: "unknown group", `(?z)`: "unknown group", `(?<1>a)`: "bad name", `(?<a>x)(?<a>y)`: "already defined", `\k<no>`: "no group", `\kx`: "not followed",
		`(?<=a*)b`: "longest match", `(?<!a+)`: "longest match", `(?<=(a){2,})`: "longest match",
		`[z-a]`: "illegal character range", `[a-\d]`: "illegal character range", `[&&]`: "bad class syntax",
		`\`: "unexpected end", `\y`: "illegal escape", `\C`: "illegal escape", `\E`: "illegal escape", `[\b]`: "illegal escape", `[\1]`: "illegal escape",
		`\x4`: "hexadecimal", `\u12`: "hexadecimal", `\x{110000}`: "hexadecimal", `\0`: "octal", `\08`: "octal", `\c`: "control",
		`\p{digit}`: "unknown character property", `\p{Nope}`: "unknown character property", `\p{IsNope}`: "unknown character property", `\p{In(}`: "unknown character property",
		`\p{L`: "unclosed character family", `\p`: "unexpected end", `\pq`: "unknown character property", `\p{x=y}`: "unknown character property", `\N`: "character name",
	} {
		if err := checkRegexp(bad); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %s", bad, err, why)
		}
	}
}

func FuzzRegexp(f *testing.F) {
	for _, seed := range []string{`^a(b|c)*[^\d]{2,3}$`, `(?<n>x)\k<n>`, `\Q(\E[`, `[a&&[b-c]]`, `(?x) #`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		if err := checkRegexp(pattern); err != nil && len(err.Error()) > 1000 {
			t.Errorf("a long message for %q", pattern)
		}
	})
}

func TestURIs(t *testing.T) {
	for _, c := range []struct{ base, ref, want string }{
		{"", "a.json", "a.json"},
		{"x.json", "a.json", "a.json"},
		{"http://h/a/b.json", "c.json", "http://h/a/c.json"},
		{"http://h/a/b.json", "../c.json", "http://h/c.json"},
		{"http://h/a/b.json", "./c/./d.json#/x", "http://h/a/c/d.json#/x"},
		{"http://h/a/b.json", "/c", "http://h/c"},
		{"http://h/a/b.json", "//g/c?q", "http://g/c?q"},
		{"http://h/a/b.json", "#x", "http://h/a/b.json#x"},
		{"http://h/a/b.json", "?q", "http://h/a/b.json?q"},
		{"http://h", "c", "http://h/c"},
		{"http://h/a", "urn:x:y", "urn:x:y"},
		{"urn:x:y", "#/z", "urn:x:y#/z"},
		{"urn:x:y", "z", "z"},
		{"http://h/a/", "..", "http://h/"},
	} {
		if got := resolve(c.base, c.ref); got != c.want {
			t.Errorf("%q from %q: %q, want %q", c.ref, c.base, got, c.want)
		}
	}
	for _, bad := range []string{"a b", "http://[x", "http:", "1a:b", ":a", "a#b#c", "%zz", "%4", "a|b", "<a>", "\x7f", "http://", "a^b"} {
		if u, ok := parseURI(bad); ok {
			t.Errorf("%q is %+v", bad, u)
		}
	}
	for _, good := range []string{"", "#", "a", "é", "http://[::1]/x", "urn:a:b", "a?b[c]#d[e]", "mailto:x@y", "a%20b"} {
		if _, ok := parseURI(good); !ok {
			t.Errorf("%q is none", good)
		}
	}
}

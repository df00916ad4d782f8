package kapi

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestTableIsValid(t *testing.T) {
	last := kmsg.Key(-1)
	for _, e := range table() {
		name := e.key.Name()
		if e.key <= last {
			t.Errorf("%s: keys must ascend", name)
		}
		last = e.key
		req := e.key.Request()
		if req == nil {
			t.Fatalf("key %d: unknown to kmsg", e.key)
		}
		if e.min < 0 || e.max < e.min || e.max > req.MaxVersion() {
			t.Errorf("%s: v%d to v%d, the module's max is %d", name, e.min, e.max, req.MaxVersion())
		}
		if e.handle == nil || e.memory == nil || e.sources == "" {
			t.Errorf("%s: incomplete row", name)
		}
		if e.memory(1000) < 1000 {
			t.Errorf("%s: estimates less than its frame", name)
		}
	}
}

// TestNumberedFiles: every row has its file and every numbered file its row.
func TestNumberedFiles(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	numbered := regexp.MustCompile(`^(\d\d)_[a-z_]+\.go$`)
	files := map[int]bool{}
	for _, f := range entries {
		if m := numbered.FindStringSubmatch(f.Name()); m != nil && !strings.HasSuffix(f.Name(), "_test.go") {
			key, _ := strconv.Atoi(m[1])
			if files[key] {
				t.Errorf("%s: a second file for its key", f.Name())
			}
			files[key] = true
		}
	}
	for _, e := range table() {
		if !files[int(e.key)] {
			t.Errorf("%s has no file %02d_*.go", e.key.Name(), e.key)
		}
		delete(files, int(e.key))
	}
	for key := range files {
		t.Errorf("file %02d_*.go has no row", key)
	}
}

func TestNeighboursAreRefused(t *testing.T) {
	s := newServer(t, Options{})
	for _, api := range s.APIs() {
		for v := api.Min(); v <= api.Max(); v++ {
			if got, verdict := s.Lookup(api.Key(), v); verdict != Served || got != api {
				t.Errorf("%s v%d: verdict %d", api.Name(), v, verdict)
			}
		}
		want := UnknownVersion
		if api.Key() == int16(kmsg.ApiVersions) {
			want = AnswerUnsupported
		}
		for _, v := range []int16{-32768, -1, api.Min() - 1, api.Max() + 1, 32767} {
			if _, verdict := s.Lookup(api.Key(), v); verdict != want {
				t.Errorf("%s v%d: verdict %d, want %d", api.Name(), v, verdict, want)
			}
		}
	}
	for _, key := range []int16{-32768, -1, 4, 27, kmsg.MaxKey + 1, 9999, 32767} {
		if _, verdict := s.Lookup(key, 0); verdict != UnknownKey {
			t.Errorf("key %d: verdict %d, want unknown", key, verdict)
		}
	}
}

// TestRowsAreAdvertised: ApiVersions lists the served table and nothing else;
// a row left out disappears.
func TestRowsAreAdvertised(t *testing.T) {
	for _, s := range []*Server{newServer(t, Options{}), newBareServer(t)} {
		resp := ask(t, s, 3, apiVersionsRequest()).(*kmsg.ApiVersionsResponse)
		var want []kmsg.ApiVersionsResponseApiKey
		for _, e := range table() {
			if s.apis[e.key] == nil {
				continue
			}
			k := kmsg.NewApiVersionsResponseApiKey()
			k.ApiKey, k.MinVersion, k.MaxVersion = int16(e.key), e.min, e.max
			if e.key == kmsg.Produce {
				k.MinVersion = 0
			}
			want = append(want, k)
		}
		if !slices.EqualFunc(resp.ApiKeys, want, func(a, b kmsg.ApiVersionsResponseApiKey) bool {
			return a.ApiKey == b.ApiKey && a.MinVersion == b.MinVersion && a.MaxVersion == b.MaxVersion
		}) {
			t.Errorf("listed %v, want %v", resp.ApiKeys, want)
		}
	}
	if _, verdict := newBareServer(t).Lookup(int16(kmsg.JoinGroup), 5); verdict != UnknownKey {
		t.Errorf("JoinGroup without a coordinator: verdict %d", verdict)
	}
}

// TestNotServed: what the message library knows is served, or NOT_SERVED.md
// says why it isn't; and never both.
func TestNotServed(t *testing.T) {
	text, err := os.ReadFile("NOT_SERVED.md")
	if err != nil {
		t.Fatal(err)
	}
	type version struct{ key, version int }
	named := map[version]bool{}
	row := regexp.MustCompile(`(?m)^\| (\d+)(?:-(\d+))? \| ([^|]+) \|(?: (\d+)(?:-(\d+))? \|)? [^|]+ \|$`)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		number := func(i int) int { n, _ := strconv.Atoi(m[i]); return n }
		from, to := number(1), max(number(1), number(2))
		var names []string
		for key := from; key <= to; key++ {
			names = append(names, kmsg.NameForKey(int16(key)))
			lo, hi := 0, int(kmsg.RequestForKey(int16(key)).MaxVersion())
			if m[4] != "" {
				lo, hi = number(4), max(number(4), number(5))
			}
			for v := lo; v <= hi; v++ {
				named[version{key, v}] = true
			}
		}
		if got := strings.Join(names, ", "); got != m[3] {
			t.Errorf("row %q: keys are %s", m[0], got)
		}
	}
	served := map[version]bool{}
	for _, e := range table() {
		for v := e.min; v <= e.max; v++ {
			served[version{int(e.key), int(v)}] = true
		}
	}
	for key := range kmsg.MaxKey + 1 {
		for v := range int(kmsg.RequestForKey(int16(key)).MaxVersion()) + 1 {
			x := version{key, v}
			if served[x] == named[x] {
				t.Errorf("%s v%d: served %v, named in NOT_SERVED.md %v", kmsg.NameForKey(int16(key)), v, served[x], named[x])
			}
		}
	}
}

// TestEveryVersion: the smallest request of every served version is decoded,
// handled, and its answer encoded in that version, to its last byte.
func TestEveryVersion(t *testing.T) {
	s := newServer(t, Options{})
	for _, api := range s.APIs() {
		for v := api.Min(); v <= api.Max(); v++ {
			req := kmsg.RequestForKey(api.Key())
			req.SetVersion(v)
			decoded := kmsg.RequestForKey(api.Key())
			decoded.SetVersion(v)
			if err := decoded.ReadFrom(req.AppendTo(nil)); err != nil {
				t.Fatalf("%s v%d: %v", api.Name(), v, err)
			}
			roundTrip(t, ask(t, s, v, decoded))
		}
	}
}

// roundTrip checks that an answer decodes to what it was.
func roundTrip(t *testing.T, resp kmsg.Response) {
	t.Helper()
	if resp == nil {
		return
	}
	b := resp.AppendTo(nil)
	again := kmsg.ResponseForKey(resp.Key())
	again.SetVersion(resp.GetVersion())
	if err := again.ReadFrom(b); err != nil {
		t.Fatalf("%s v%d: %v", kmsg.NameForKey(resp.Key()), resp.GetVersion(), err)
	}
	if got := again.AppendTo(nil); string(got) != string(b) {
		t.Errorf("%s v%d: decodes to something else:\n%x\n%x", kmsg.NameForKey(resp.Key()), resp.GetVersion(), b, got)
	}
}

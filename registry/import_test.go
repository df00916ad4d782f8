package registry_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"milena/registry"
	"milena/registry/errcode"
	"milena/registry/store"
	"milena/registry/store/memory"
	"milena/registry/transfer"
)

// exported returns the stream of all that a registry holds.
func exported(t *testing.T, r *registry.Registry, q registry.ExportQuery) string {
	t.Helper()
	lines, err := r.Export(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := transfer.Write(&out, 0, lines); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// take imports a stream and returns the summary with what there was to say.
func take(t *testing.T, r *registry.Registry, items iter.Seq2[transfer.Item, error], o registry.ImportOptions) (registry.ImportSummary, []string) {
	t.Helper()
	var said []string
	o.Report = func(f registry.ImportFinding) {
		said = append(said, fmt.Sprintf("%d %s %s: %d %s", f.Line, f.Outcome, f.What, f.Code, f.Message))
	}
	sum, err := r.Import(t.Context(), items, o)
	if err != nil {
		t.Fatalf("import: %v", err)
	}
	return sum, said
}

func openMemory(t *testing.T) *registry.Registry {
	t.Helper()
	return open(t, registry.Options{Log: memory.New()})
}

// TestImportReferenceTopic imports a topic that the reference wrote and
// compares every answer with what the reference then answered; then the same
// again, through an export, and once more.
func TestImportReferenceTopic(t *testing.T) {
	topic, err := os.ReadFile(sharedTopic("topic.jsonl"))
	if err != nil {
		t.Skipf("the reference's topic is missing: %v", err)
	}
	first := openMemory(t)
	sum, said := take(t, first, transfer.ReadAny(bytes.NewReader(topic)), registry.ImportOptions{})
	if sum.Imported == 0 || sum.Conflicts != 0 || sum.Refused != 0 {
		t.Errorf("%+v\n%s", sum, strings.Join(said, "\n"))
	}
	compareReferenceState(t, first)

	stream := exported(t, first, registry.ExportQuery{})
	second := openMemory(t)
	if sum, said := take(t, second, transfer.ReadAny(strings.NewReader(stream)), registry.ImportOptions{}); sum.Imported != sum.Lines {
		t.Errorf("%+v\n%s", sum, strings.Join(said, "\n"))
	}
	compareReferenceState(t, second)
	if again := exported(t, second, registry.ExportQuery{}); again != stream {
		t.Error("what was imported is not exported again")
	}
	var dump bytes.Buffer
	lines, err := first.Export(t.Context(), registry.ExportQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if err := transfer.WriteTopic(&dump, lines); err != nil {
		t.Fatal(err)
	}
	third := openMemory(t)
	take(t, third, transfer.ReadAny(bytes.NewReader(dump.Bytes())), registry.ImportOptions{})
	compareReferenceState(t, third)
	for name, source := range map[string]string{"dump": string(topic), "stream": stream, "our dump": dump.String()} {
		sum, said := take(t, second, transfer.ReadAny(strings.NewReader(source)), registry.ImportOptions{})
		if sum.Unchanged != sum.Lines {
			t.Errorf("%s again: %+v\n%s", name, sum, strings.Join(said, "\n"))
		}
	}
}

func sharedTopic(name string) string {
	shared := os.Getenv("MILENA_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	return filepath.Join(shared, "corpus", "schemas-topic", name)
}

// TestImportLines: what becomes of each line in a registry that holds something
// already, without and with overwriting.
func TestImportLines(t *testing.T) {
	schema := func(subject string, version, id int, text string, more string) string {
		return fmt.Sprintf(`{"schema":{"subject":%q,"version":%d,"id":%d,"schema":%q%s}}`, subject, version, id, text, more)
	}
	here := []string{
		schema("s", 1, 1, `"int"`, ""), schema("s", 2, 2, `"long"`, `,"deleted":true`),
		`{"config":{"subject":"s","compatibilityLevel":"FULL"}}`, `{"mode":{"subject":"ro","mode":"READONLY"}}`,
		`{"association":{"guid":"g","resourceName":"r","resourceNamespace":"n","resourceId":"i","resourceType":"topic","associationType":"value","subject":"s","lifecycle":"WEAK"}}`,
		`{"kek":{"name":"k","kmsType":"t","kmsKeyId":"i"}}`,
		`{"dek":{"kekName":"k","subject":"s","algorithm":"AES256_GCM","version":1,"encryptedKeyMaterial":"AA=="}}`,
	}
	const imported, unchanged = "imported", "unchanged"
	for _, c := range []struct{ line, keeping, overwriting string }{
		{here[0], unchanged, unchanged},
		{here[2], unchanged, unchanged},
		{here[4], unchanged, unchanged},
		{here[5], unchanged, unchanged},
		{here[6], unchanged, unchanged},
		{schema("s", 3, 3, `"float"`, ""), imported, imported},
		{schema(":.c:s", 3, 1, `"float"`, ""), imported, imported},
		{schema("t", 1, 1, `"int"`, ""), imported, imported},
		{schema("t", 1, 7, `"int"`, ""), imported, imported},
		// What a version or an id means stays.
		{schema("s", 1, 1, `"float"`, ""), "conflict 42205", "conflict 42205"},
		{schema("s", 1, 9, `"int"`, ""), "conflict 42205", "conflict 42205"},
		{schema("t", 1, 1, `"float"`, ""), "conflict 42205", "conflict 42205"},
		{schema("s", 1, 1, `"int"`, `,"metadata":{}`), "conflict 42205", "conflict 42205"},
		// What may change.
		{schema("s", 1, 1, `"int"`, `,"deleted":true`), "conflict 42205", imported},
		{schema("s", 2, 2, `"long"`, ""), "conflict 42205", imported},
		{`{"config":{"subject":"s","compatibilityLevel":"none"}}`, "conflict 42205", imported},
		{`{"mode":{"subject":"ro","mode":"readonly"}}`, unchanged, unchanged},
		{`{"mode":{"subject":"ro","mode":"IMPORT"}}`, "conflict 42205", imported},
		{strings.Replace(here[4], "WEAK", "STRONG", 1), "conflict 42205", imported},
		{strings.Replace(here[5], `"t"`, `"u"`, 1), "conflict 42205", imported},
		{strings.Replace(here[6], `"AA=="`, `"AQ=="`, 1), "conflict 42205", imported},
		{strings.Replace(here[4], `"subject":"s"`, `"subject":"other"`, 1), "conflict 40903", "conflict 40903"},
		// What nothing can hold.
		{schema("", 1, 1, `"int"`, ""), "refused 42208", "refused 42208"},
		{schema("__GLOBAL", 1, 1, `"int"`, ""), "refused 42208", "refused 42208"},
		{schema(":.__GLOBAL:s", 1, 1, `"int"`, ""), "refused 42208", "refused 42208"},
		{schema("a\u0085", 1, 1, `"int"`, ""), "refused 42208", "refused 42208"},
		{schema("s", 0, 1, `"int"`, ""), "refused 42202", "refused 42202"},
		{schema("s", 1<<31, 1, `"int"`, ""), "refused 42202", "refused 42202"},
		{schema("s", 4, -1, `"int"`, ""), "refused 42201", "refused 42201"},
		{schema("s", 4, 1<<31, `"int"`, ""), "refused 42201", "refused 42201"},
		{schema("s", 4, 5, strings.Repeat(" ", 2001), ""), "refused 42209", "refused 42209"},
		{schema("s", 4, 5, `"int"`, `,"metadata":{"properties":{"a":"`+strings.Repeat("x", store.EntryBytesMax)+`"}}`), "refused 42209", "refused 42209"},
		{schema("s", 4, 5, `"int"`, `,"references":[`+strings.Repeat(`{},`, 4)+`{}]`), "refused 42201", "refused 42201"},
		{schema("ro", 1, 8, `"int"`, ""), "refused 42205", "refused 42205"},
		{`{"config":{"subject":"ro","compatibilityLevel":"FULL"}}`, "refused 42205", "refused 42205"},
		{`{"config":{"subject":"s","compatibilityLevel":"SOME"}}`, "refused 42203", "refused 42203"},
		{`{"config":{"subject":"__EMPTY"}}`, "refused 42208", "refused 42208"},
		{`{"mode":{"subject":"s","mode":"SOME"}}`, "refused 42204", "refused 42204"},
		{`{"mode":{"subject":"__EMPTY","mode":"IMPORT"}}`, "refused 42208", "refused 42208"},
		{`{"context":{"name":"c"}}`, "refused 400", "refused 400"},
		{`{"context":{"name":".a:b"}}`, "refused 400", "refused 400"},
		{`{"context":{"name":".__GLOBAL"}}`, "refused 400", "refused 400"},
		{`{"context":{"name":".","maxId":2147483648}}`, "refused 400", "refused 400"},
		{`{"context":{"name":".","maxId":-1}}`, "refused 400", "refused 400"},
		{`{"context":{"name":".","maxId":2147483647}}`, imported, imported},
		{`{"context":{"name":".new"}}`, imported, imported},
		{`{"association":{"guid":"g","subject":"s"}}`, "refused 42212", "refused 42212"},
		{`{"association":{"guid":"g","subject":"__GLOBAL"}}`, "refused 42208", "refused 42208"},
		{`{"kek":{"name":"k2"}}`, "refused 42271", "refused 42271"},
		{`{"dek":{"kekName":"k"}}`, "refused 42271", "refused 42271"},
		{strings.Replace(here[6], `"k"`, `"nowhere"`, 1), "refused 40470", "refused 40470"},
		{strings.Replace(here[6], `"version":1`, `"version":2`, 1), "refused 40972", "refused 40972"},
		{`{"kek":{"name":"k2","kmsType":"t","kmsKeyId":"i"}}`, "refused 40972", "refused 40972"},
		{`{}`, "refused 400", "refused 400"},
	} {
		for _, overwrite := range []bool{false, true} {
			r := open(t, registry.Options{Limits: registry.Limits{SchemaBytesMax: 2000, ReferencesMax: 4, KeysMax: 2}})
			if sum, said := take(t, r, lineItems(here...), registry.ImportOptions{}); sum.Imported != len(here) {
				t.Fatalf("%+v\n%s", sum, strings.Join(said, "\n"))
			}
			before, want := exported(t, r, registry.ExportQuery{}), c.keeping
			if overwrite {
				want = c.overwriting
			}
			for _, dryRun := range []bool{true, false} {
				sum, said := take(t, r, lineItems(c.line), registry.ImportOptions{Overwrite: overwrite, DryRun: dryRun})
				got := unchanged
				switch {
				case sum.Imported == 1:
					got = imported
				case sum.Conflicts+sum.Refused == 1 && len(said) == 1:
					fields := strings.Fields(said[0][:strings.LastIndex(said[0], ": ")])
					_, code, _ := strings.Cut(said[0], ": ")
					got = fields[1] + " " + strings.Fields(code)[0]
				}
				if got != want {
					t.Errorf("overwrite %t, dry run %t, %.200s: %s, want %s %v", overwrite, dryRun, c.line, got, want, said)
				}
				same := exported(t, r, registry.ExportQuery{}) == before
				if changes := want == imported && !dryRun; same == changes {
					t.Errorf("overwrite %t, dry run %t, %.200s: changed something: %t", overwrite, dryRun, c.line, !same)
				}
			}
		}
	}
}

// lineItems returns a source of lines.
func lineItems(lines ...string) iter.Seq2[transfer.Item, error] {
	return func(yield func(transfer.Item, error) bool) {
		for i, text := range lines {
			l, err := transfer.ParseLine([]byte(text))
			if !yield(transfer.Item{Number: i + 1, Line: l, Err: err}, nil) {
				return
			}
		}
	}
}

// TestImportKeepsIDs: ids go on above the highest that was ever given out, and
// of several ids of one schema the same one counts.
func TestImportKeepsIDs(t *testing.T) {
	r := openMemory(t)
	take(t, r, lineItems(
		`{"context":{"name":".","maxId":41}}`,
		`{"schema":{"subject":"a","version":1,"id":7,"schema":"\"int\""}}`,
		`{"schema":{"subject":"b","version":1,"id":5,"schema":"\"int\""}}`,
	), registry.ImportOptions{})
	copied := openMemory(t)
	take(t, copied, transfer.Read(strings.NewReader(exported(t, r, registry.ExportQuery{}))), registry.ImportOptions{})
	for name, r := range map[string]*registry.Registry{"first": r, "copy": copied} {
		if got := register(t, r, "c", `"int"`).ID; got != 5 {
			t.Errorf("%s: the known schema gets the id %d", name, got)
		}
		if got := register(t, r, "d", `"long"`).ID; got != 42 {
			t.Errorf("%s: the new schema gets the id %d", name, got)
		}
		subjects, err := r.Subjects(t.Context(), registry.SubjectsQuery{Deleted: true})
		if err != nil || !slices.Equal(subjects, []string{"a", "b", "c", "d"}) {
			t.Errorf("%s: %v, %v", name, subjects, err)
		}
	}
}

// TestImportWarns: what can't be read is imported and named; what lacks a
// reference only if it still does in the end.
func TestImportWarns(t *testing.T) {
	r := openMemory(t)
	sum, said := take(t, r, lineItems(
		`{"schema":{"subject":"early","version":1,"id":1,"schema":"\"P\"","references":[{"name":"P","subject":"late","version":1}]}}`,
		`{"schema":{"subject":"lost","version":1,"id":2,"schema":"\"int\"","references":[{"name":"P","subject":"nowhere","version":1}]}}`,
		`{"schema":{"subject":"odd","version":1,"id":3,"schema":"nonsense"}}`,
		`{"schema":{"subject":"empty","version":1,"id":4,"schema":""}}`,
		`{"schema":{"subject":"foreign","version":1,"id":5,"schemaType":"THRIFT","schema":"struct S {}"}}`,
		`{"schema":{"subject":"late","version":1,"id":6,"schema":"{\"type\":\"enum\",\"name\":\"P\",\"symbols\":[]}"}}`,
	), registry.ImportOptions{})
	if sum.Imported != 6 || sum.Warnings != 3 || len(said) != 3 ||
		!strings.HasPrefix(said[0], "3 warning schema odd version 1") || !strings.HasPrefix(said[1], "5 warning") || !strings.HasPrefix(said[2], "2 warning") {
		t.Errorf("%+v\n%s", sum, strings.Join(said, "\n"))
	}
	for id, want := range map[int]string{1: `"P"`, 3: "nonsense", 5: "struct S {}"} {
		s, err := r.SchemaByID(t.Context(), id, registry.ByIDQuery{})
		if err != nil || s.Schema != want {
			t.Errorf("id %d: %q, %v", id, s.Schema, err)
		}
	}
}

// TestImportEnds: an import that can't go on says so and keeps what it has.
func TestImportEnds(t *testing.T) {
	broken := errors.New("broken")
	source := func(yield func(transfer.Item, error) bool) {
		for item, err := range lineItems(`{"schema":{"subject":"s","version":1,"id":1,"schema":"\"int\""}}`) {
			item.Resume = "s"
			yield(item, err)
		}
		yield(transfer.Item{}, broken)
	}
	r := openMemory(t)
	sum, err := r.Import(t.Context(), source, registry.ImportOptions{})
	if !errors.Is(err, broken) || sum.Imported != 1 || sum.ResumeAfter != "s" {
		t.Errorf("%+v, %v", sum, err)
	}
	full := &flakyLog{Log: memory.New(), before: func() error { return broken }}
	other := open(t, registry.Options{Log: full})
	sum, err = other.Import(t.Context(), transfer.Read(strings.NewReader(exported(t, r, registry.ExportQuery{}))), registry.ImportOptions{})
	if !errors.Is(err, errcode.StoreFailed) || sum.Imported != 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	full.before = nil
	sum, said := take(t, other, transfer.Read(strings.NewReader(exported(t, r, registry.ExportQuery{}))), registry.ImportOptions{})
	if sum.Imported != sum.Lines {
		t.Errorf("again: %+v %v", sum, said)
	}
}

// TestImportBesideWrites: registrations go on while an import runs, and neither
// harms the other.
func TestImportBesideWrites(t *testing.T) {
	r := openMemory(t)
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, `{"schema":{"subject":":.i:i%d","version":1,"id":%d,"schema":"{\"type\":\"fixed\",\"name\":\"F\",\"size\":%d}"}}`+"\n", i, 10_000+i, i)
	}
	done := make(chan error, 1)
	go func() {
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		sum, err := r.Import(t.Context(), lineItems(lines...), registry.ImportOptions{})
		if err == nil && sum.Imported != 2000 {
			err = fmt.Errorf("%+v", sum)
		}
		done <- err
	}()
	seen := map[int]bool{}
	for i := range 200 {
		a := register(t, r, fmt.Sprint("w", i), record("R", fmt.Sprintf("f%d:int", i)))
		if seen[a.ID] {
			t.Errorf("the id %d was given out twice", a.ID)
		}
		seen[a.ID] = true
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	schemas, err := r.Subjects(t.Context(), registry.SubjectsQuery{})
	if err != nil || len(schemas) != 2200 {
		t.Errorf("%d subjects, %v", len(schemas), err)
	}
}

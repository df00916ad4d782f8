package registry_test

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"milena/registry"
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
	for name, source := range map[string]string{"dump": string(topic), "stream": stream} {
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

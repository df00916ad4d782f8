package milenatest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"milena/cmd/milenatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func get(t *testing.T, url string, v any) int {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if v != nil {
		if err := json.NewDecoder(resp.Body).Decode(v); err != nil {
			t.Fatal(err)
		}
	}
	return resp.StatusCode
}

// TestStart: two of them at the same time have nothing in common, and each has
// what it was asked for.
func TestStart(t *testing.T) {
	empty := milenatest.Start(t, milenatest.Options{})
	full := milenatest.Start(t, milenatest.Options{
		Topics: []milenatest.Topic{{Name: "three", Partitions: 3}},
		Schemas: []milenatest.Schema{
			{Subject: "part", Text: `{"type":"enum","name":"Part","symbols":["A"]}`},
			{Subject: "whole", Text: `["null","Part"]`, References: []milenatest.Reference{{Name: "Part", Subject: "part", Version: 1}}},
		},
	})
	for m, want := range map[*milenatest.Milena]int{empty: 0, full: 2} {
		var subjects []string
		if code := get(t, m.RegistryURL+"/subjects", &subjects); code != http.StatusOK || len(subjects) != want {
			t.Errorf("%d %v", code, subjects)
		}
		if code := get(t, m.AdminURL+"/readyz", nil); code != http.StatusOK {
			t.Errorf("readyz: %d", code)
		}
	}
	if full.ID("part") != 1 || full.ID("whole") != 2 || full.ID("other") != 0 || full.Broker == "" {
		t.Errorf("ids %d, %d, %d", full.ID("part"), full.ID("whole"), full.ID("other"))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(full.Kafka), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.ProduceSync(ctx, &kgo.Record{Topic: "three", Partition: 2, Value: []byte("x")}).FirstErr(); err != nil {
		t.Errorf("produce to the third partition: %v", err)
	}
}

// TestNewFails: what can't be had is an error that names it, and nothing is
// left running.
func TestNewFails(t *testing.T) {
	for what, c := range map[string]struct {
		options milenatest.Options
		want    string
	}{
		"an unknown setting":     {milenatest.Options{Settings: map[string]string{"nope": "1"}}, "nope"},
		"a bad setting":          {milenatest.Options{Settings: map[string]string{"validation": "maybe"}}, "validation"},
		"a topic without a name": {milenatest.Options{Topics: []milenatest.Topic{{}}}, "create topic"},
		"no schema":              {milenatest.Options{Schemas: []milenatest.Schema{{Subject: "s", Text: "nope"}}}, "register schema of s"},
		"no role for it": {milenatest.Options{
			Settings: map[string]string{"roles": "broker"}, Schemas: []milenatest.Schema{{Subject: "s", Text: `"int"`}},
		}, "roles"},
	} {
		m, err := milenatest.New(t.Context(), c.options)
		if err == nil {
			t.Errorf("%s: started", what)
			_ = m.Close(t.Context())
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

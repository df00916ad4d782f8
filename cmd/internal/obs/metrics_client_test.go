package obs

import (
	"fmt"
	"testing"

	"milena/registry/client"
)

// TestRegistryCaches reads each count under its name and cache.
func TestRegistryCaches(t *testing.T) {
	m := NewMetrics()
	m.RegistryCaches(func() client.Stats {
		return client.Stats{Caches: []client.CacheStats{{Name: "ids", Hits: 1, UnknownHits: 2, Misses: 3, Evictions: 4, Entries: 5, Bytes: 6}}}
	})
	families, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, metric := range f.GetMetric() {
			name := f.GetName()
			for _, l := range metric.GetLabel() {
				name += " " + l.GetValue()
			}
			got[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"milena_registry_client_cache_total ids hit": 1, "milena_registry_client_cache_total ids unknown": 2,
		"milena_registry_client_cache_total ids miss": 3, "milena_registry_client_cache_evictions_total ids": 4,
		"milena_registry_client_cache_entries ids": 5, "milena_registry_client_cache_bytes ids": 6,
	} {
		if got[name] != want {
			t.Errorf("%s: %v, want %v", name, fmt.Sprint(got[name]), want)
		}
	}
}

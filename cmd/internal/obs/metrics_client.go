package obs

import (
	"github.com/prometheus/client_golang/prometheus"

	"milena/registry/client"
)

// RegistryCaches shows the caches of a client of a remote registry, as stats
// tells them when metrics are read.
func (m *Metrics) RegistryCaches(stats func() client.Stats) {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"cache"}, labels...), nil)
	}
	m.registry.MustRegister(&cacheCollector{
		stats:     stats,
		asked:     describe("milena_registry_client_cache_total", "Questions to a cache of the registry client: hit, unknown (known not to be there) or miss.", "result"),
		evictions: describe("milena_registry_client_cache_evictions_total", "Entries that a cache of the registry client dropped for lack of room."),
		entries:   describe("milena_registry_client_cache_entries", "Entries in a cache of the registry client."),
		bytes:     describe("milena_registry_client_cache_bytes", "Estimated bytes in a cache of the registry client."),
	})
}

// cacheCollector reads the counts anew each time. It is immutable.
type cacheCollector struct {
	stats                            func() client.Stats
	asked, evictions, entries, bytes *prometheus.Desc
}

// Describe lists the metrics.
func (c *cacheCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.asked, c.evictions, c.entries, c.bytes} {
		out <- d
	}
}

// Collect reads the counts.
func (c *cacheCollector) Collect(out chan<- prometheus.Metric) {
	for _, s := range c.stats().Caches {
		counter := func(d *prometheus.Desc, n int64, labels ...string) {
			out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), append([]string{s.Name}, labels...)...)
		}
		counter(c.asked, s.Hits, "hit")
		counter(c.asked, s.UnknownHits, "unknown")
		counter(c.asked, s.Misses, "miss")
		counter(c.evictions, s.Evictions)
		out <- prometheus.MustNewConstMetric(c.entries, prometheus.GaugeValue, float64(s.Entries), s.Name)
		out <- prometheus.MustNewConstMetric(c.bytes, prometheus.GaugeValue, float64(s.Bytes), s.Name)
	}
}

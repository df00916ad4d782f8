package obs

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics turns what the parts report into Prometheus metrics. Labels come from
// the parts' own tables, never from what a peer sends, so their number is
// bounded. Methods that return observers are called once each.
type Metrics struct {
	registry *prometheus.Registry
	factory  promauto.Factory
}

// NewMetrics returns Metrics with those of the Go runtime and the process.
func NewMetrics() *Metrics {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &Metrics{registry: r, factory: promauto.With(r)}
}

// Gatherer returns what the admin port serves.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

func (m *Metrics) counter(name, help string) prometheus.Counter {
	return m.factory.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	return m.factory.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// seconds is a histogram from 100 µs to about 26 s.
func (m *Metrics) seconds(name, help string, labels ...string) *prometheus.HistogramVec {
	return m.factory.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10)}, labels)
}

func label(b bool) string { return strconv.FormatBool(b) }

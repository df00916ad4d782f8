package obs

import (
	"milena/gateway"
	"milena/gateway/coordinator"
	"milena/gateway/envelope"

	"github.com/prometheus/client_golang/prometheus"
)

// Envelope returns the observer of an envelope engine.
func (m *Metrics) Envelope() envelope.Observer {
	stored := m.counters("milena_stored_records_total", "Records stored, by form: rebuilt from their RecordValue, with_original bytes beside it, or raw.", "form")
	undecoded := m.counters("milena_undecoded_payloads_total", "Keys and values with an envelope that were not decoded, by reason.", "reason")
	rejected := m.counter("milena_rejected_records_total", "Records refused because they break their schema.")
	mismatches := m.counter("milena_rebuild_mismatches_total", "Stored batches that did not give back what was produced. Never served.")
	tail := m.counters("milena_served_batches_total", "Batches served, as they were sent (tail cache) or rebuilt.", "tail_cache")
	forms := map[envelope.Form]prometheus.Counter{}
	for _, f := range []envelope.Form{envelope.Rebuilt, envelope.WithOriginal, envelope.Raw} {
		forms[f] = stored.WithLabelValues(f.String())
	}
	hit, miss := tail.WithLabelValues("true"), tail.WithLabelValues("false")
	return envelope.Observer{
		Stored:    func(f envelope.Form, n int) { forms[f].Add(float64(n)) },
		Undecoded: func(r envelope.Reason, n int) { undecoded.WithLabelValues(r.String()).Add(float64(n)) },
		Rejected:  func(n int) { rejected.Add(float64(n)) },
		Mismatch:  func() { mismatches.Inc() },
		Tail: func(cached bool) {
			if cached {
				hit.Inc()
			} else {
				miss.Inc()
			}
		},
	}
}

// Gateway returns the observer of the Kafka listeners.
func (m *Metrics) Gateway() gateway.Observer {
	open := m.factory.NewGaugeVec(prometheus.GaugeOpts{Name: "milena_kafka_connections", Help: "Open connections."}, []string{"listener"})
	closed := m.counters("milena_kafka_connections_closed_total", "Connections closed, by reason.", "listener", "reason")
	refused := m.counters("milena_kafka_connections_refused_total", "Connections over the limit.", "listener")
	duration := m.seconds("milena_kafka_request_seconds", "From a request read to its answer encoded, long polls included.", "api")
	in := m.counters("milena_kafka_request_bytes_total", "Bytes of requests.", "api")
	out := m.counters("milena_kafka_response_bytes_total", "Bytes of answers.", "api")
	return gateway.Observer{
		ConnectionOpened: func(l string) { open.WithLabelValues(l).Inc() },
		ConnectionClosed: func(l string, why gateway.CloseReason) {
			open.WithLabelValues(l).Dec()
			closed.WithLabelValues(l, string(why)).Inc()
		},
		ConnectionRefused: func(l string) { refused.WithLabelValues(l).Inc() },
		RequestDone: func(r gateway.RequestStats) {
			duration.WithLabelValues(r.API).Observe(r.Duration.Seconds())
			in.WithLabelValues(r.API).Add(float64(r.RequestBytes))
			out.WithLabelValues(r.API).Add(float64(r.ResponseBytes))
		},
	}
}

// Groups returns the observer of the group coordinator.
func (m *Metrics) Groups() coordinator.Observer {
	rebalances := m.counter("milena_group_rebalances_total", "Join phases completed.")
	failed := m.counter("milena_group_storage_failures_total", "Groups given up because their record could not be stored or loaded.")
	return coordinator.Observer{Rebalanced: func() { rebalances.Inc() }, StorageFailed: func() { failed.Inc() }}
}

package obs

import (
	"milena/broker"
	"milena/broker/api"

	"github.com/prometheus/client_golang/prometheus"
)

// Broker returns the observer of a broker.
func (m *Metrics) Broker() broker.Observer {
	commits := m.counter("milena_broker_commits_total", "Group commits: one write and one sync each.")
	requests := m.counter("milena_broker_commit_requests_total", "Requests in group commits.")
	records := m.counter("milena_broker_records_total", "Records committed.")
	bytes := m.counter("milena_broker_bytes_total", "Bytes of stored batches committed.")
	sync := m.seconds("milena_broker_sync_seconds", "Duration of the sync of a group commit.").WithLabelValues()
	write := m.seconds("milena_broker_write_seconds", "Duration of the write of a group commit.").WithLabelValues()
	stopped := m.counter("milena_broker_stopped_total", "Times that a failed write or sync ended all appends.")
	corrupt := m.counter("milena_broker_corrupt_batches_total", "Stored batches that failed their CRC when read.")
	reads := m.counters("milena_broker_batches_read_total", "Batches read, from memory or from the journal.", "memory")
	checkpoints := m.counters("milena_broker_checkpoints_total", "Checkpoints taken.", "failed")
	checkpoint := m.seconds("milena_broker_checkpoint_seconds", "Duration of a checkpoint.").WithLabelValues()
	leases := m.factory.NewGauge(prometheus.GaugeOpts{Name: "milena_broker_leases", Help: "Gateways that hold the lease."})
	full := m.factory.NewGauge(prometheus.GaugeOpts{Name: "milena_broker_disk_full", Help: "1 while appends are refused for lack of space, else 0."})
	hit, miss := reads.WithLabelValues("true"), reads.WithLabelValues("false")
	return broker.Observer{
		Committed: func(c broker.Commit) {
			commits.Inc()
			requests.Add(float64(c.Requests))
			records.Add(float64(c.Records))
			bytes.Add(float64(c.Bytes))
			write.Observe(c.Append.Seconds())
			sync.Observe(c.Sync.Seconds())
		},
		Stopped: func(error) { stopped.Inc() },
		Full: func(is bool) {
			full.Set(0)
			if is {
				full.Set(1)
			}
		},
		Corrupt: func(api.Partition, int64) { corrupt.Inc() },
		TailRead: func(memory bool) {
			if memory {
				hit.Inc()
			} else {
				miss.Inc()
			}
		},
		Checkpointed: func(c broker.Checkpointed) {
			checkpoints.WithLabelValues(label(c.Err != nil)).Inc()
			checkpoint.Observe(c.Duration.Seconds())
		},
		Session: func(_ string, held bool) {
			if held {
				leases.Inc()
			} else {
				leases.Dec()
			}
		},
	}
}

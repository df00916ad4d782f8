package obs

import (
	"strconv"
	"time"

	"milena/registry"
	"milena/registry/client"
	"milena/registry/rest"
)

// Registry returns the observer of the registry.
func (m *Metrics) Registry() registry.Observer {
	appends := m.seconds("milena_registry_commit_seconds", "Duration of an append to the registry's log, sync included.").WithLabelValues()
	writes := m.counter("milena_registry_writes_total", "Writes committed.")
	records := m.counter("milena_registry_log_records_total", "Records appended to the log.")
	failed := m.counter("milena_registry_commit_failures_total", "Appends that failed.")
	retried := m.counter("milena_registry_retries_total", "Writes that started over because what they relied on changed.")
	registered := m.counters("milena_registry_registrations_total", "Registrations answered, with a new version or a known one.", "created")
	checks := m.counters("milena_registry_compatibility_checks_total", "Compatibility checks, by level and verdict.", "level", "compatible")
	check := m.seconds("milena_registry_compatibility_seconds", "Duration of a compatibility check.").WithLabelValues()
	parsed := m.counters("milena_registry_parsed_schemas_total", "Schemas needed in parsed form, from the cache or parsed.", "cached")
	return registry.Observer{
		Committed: func(w, r int, took time.Duration) {
			appends.Observe(took.Seconds())
			writes.Add(float64(w))
			records.Add(float64(r))
		},
		CommitFailed: func(error) { failed.Inc() },
		Retried:      func() { retried.Inc() },
		Registered:   func(created bool) { registered.WithLabelValues(label(created)).Inc() },
		Checked: func(level string, compatible bool, took time.Duration) {
			checks.WithLabelValues(level, label(compatible)).Inc()
			check.Observe(took.Seconds())
		},
		Parsed: func(cached bool) { parsed.WithLabelValues(label(cached)).Inc() },
	}
}

// REST returns the observer of the registry's REST API.
func (m *Metrics) REST() rest.Observer {
	duration := m.seconds("milena_rest_request_seconds", "From a request to its answer, by route.", "method", "route")
	answers := m.counters("milena_rest_answers_total", "Answers, by route, status and error code (0 for none).", "method", "route", "status", "error_code")
	return rest.Observer{Answered: func(method, pattern string, status, code int, took time.Duration) {
		duration.WithLabelValues(method, pattern).Observe(took.Seconds())
		answers.WithLabelValues(method, pattern, strconv.Itoa(status), strconv.Itoa(code)).Inc()
	}}
}

// RegistryClient returns the observer of a client of a remote registry.
func (m *Metrics) RegistryClient() client.Observer {
	duration := m.seconds("milena_registry_client_request_seconds", "Requests to the remote registry, by status (0 for no answer).", "status")
	retries := m.counter("milena_registry_client_retries_total", "Requests to the remote registry that were sent again.")
	return client.Observer{
		Asked: func(status int, took time.Duration) {
			duration.WithLabelValues(strconv.Itoa(status)).Observe(took.Seconds())
		},
		Retried: func() { retries.Inc() },
	}
}

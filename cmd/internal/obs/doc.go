// Package obs is what an operator sees of a process: log lines (log.go), the
// admin port with /livez, /readyz, /metrics and pprof (admin.go), and the one
// place where the parts' observers become Prometheus metrics (metrics*.go).
// No other package imports the Prometheus client.
package obs

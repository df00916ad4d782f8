package rest

import (
	"log/slog"
	"time"
)

// Options configure a Server. The zero value is usable.
type Options struct {
	// Logger gets server errors; default nothing.
	Logger *slog.Logger
	// Observer gets every answer.
	Observer Observer
	// Version and Commit are what /v1/metadata/version says; default "unknown".
	Version, Commit string
	// ClusterID and GroupID are what /v1/metadata/id says; default "milena" and
	// "schema-registry".
	ClusterID, GroupID string
	// NoRemoteImport refuses imports from an address that the client names,
	// for which the server asks that address itself.
	NoRemoteImport bool
	// Limits bound what clients can make the server do.
	Limits Limits
}

// Limits bound what clients can make the server do. Zero fields mean the
// defaults.
type Limits struct {
	ConnectionsMax int           // open connections, more wait unaccepted; default 4,096
	RequestsMax    int           // requests at work; default 1,024
	BodyBytesMax   int           // bytes of a body that holds a schema; default 8 MiB
	BodiesBytesMax int           // bytes of all bodies at work; default 128 MiB
	HeaderBytesMax int           // bytes of a request's line and headers; default 64 KiB
	HeaderTimeout  time.Duration // to receive the headers; default 10 s
	RequestTimeout time.Duration // to receive a request, and to send its answer; default 60 s
	WorkTimeout    time.Duration // to decide on a request; default 30 s
	IdleTimeout    time.Duration // between two requests; default 2 min
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	for _, d := range []struct {
		field *string
		value string
	}{
		{&o.Version, "unknown"},
		{&o.Commit, "unknown"},
		{&o.ClusterID, "milena"},
		{&o.GroupID, "schema-registry"},
	} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	o.Limits = o.Limits.withDefaults()
	return o
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		field *int
		value int
	}{
		{&l.ConnectionsMax, 4_096},
		{&l.RequestsMax, 1_024},
		{&l.BodyBytesMax, 8 << 20},
		{&l.BodiesBytesMax, 128 << 20},
		{&l.HeaderBytesMax, 64 << 10},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&l.HeaderTimeout, 10 * time.Second},
		{&l.RequestTimeout, time.Minute},
		{&l.WorkTimeout, 30 * time.Second},
		{&l.IdleTimeout, 2 * time.Minute},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	return l
}

// Observer gets what a Server does. Every field may be nil. Functions are
// called in the goroutine of the request and must not block.
type Observer struct {
	// Answered is called after every answer. Method and pattern come from
	// Routes, with the pattern of requests below /contexts/{context} carrying
	// that prefix; requests that match no route have the pattern "other" and
	// unknown methods are "OTHER", so that both are fit for labels. Code is the
	// error_code of the body and 0 for successes.
	Answered func(method, pattern string, status, code int, took time.Duration)
}

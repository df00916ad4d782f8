package config

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// kind is the type of a setting's value.
type kind uint8

const (
	text kind = iota
	list      // may be repeated or separated by commas
	toggle
	number   // a whole number
	duration // as Go writes them: 500ms, 5s
	secret   // text without a flag, as others see a process's arguments
)

// Use says which commands a setting belongs to.
type Use uint8

// The two kinds of commands. A setting of the other kind is known and does not
// count, so that both may share a file and an environment.
const (
	Serve  Use = iota + 1 // milena serve
	Client                // commands that talk to a registry
)

// Setting is one row of the table.
type Setting struct {
	Use     Use
	Name    string // key of the file; the variable is MILENA_ and the same in upper case with _
	Kind    kind
	Default string
	Doc     string
	Check   func(value string) error // nil: anything of the kind
}

// Variable returns the name of the setting's environment variable.
func (s Setting) Variable() string {
	return prefix + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

const prefix = "MILENA_"

// Flag returns the name of the setting's flag, "" if it has none. Commands that
// talk to a registry need not say so in each of theirs.
func (s Setting) Flag() string {
	switch {
	case s.Kind == secret:
		return ""
	case s.Use == Client && s.Name == "registry-url":
		return "registry"
	case s.Use == Client:
		return strings.TrimPrefix(s.Name, "registry-")
	}
	return s.Name
}

// Settings returns the settings of all commands.
func Settings() []Setting {
	return []Setting{
		{Serve, "config", text, "", "YAML file with these settings by name", nil},
		{Serve, "roles", list, "registry,gateway,broker", "parts to run in this process", oneOf("registry", "gateway", "broker")},
		{Serve, "data-dir", text, "milena-data", "directory of the embedded store and the journal", notEmpty},
		{Serve, "dev", toggle, "false", "keep everything in memory; nothing survives the process", nil},
		{Serve, "registry-listen", text, ":8081", "address of the registry's REST API", address},
		{Serve, "kafka-listen", list, ":9092", "address of the Kafka port; repeat as NAME=LISTEN@ADVERTISE for several networks", nil},
		{Serve, "kafka-advertise", text, "", "address that Kafka clients are told; default is the one they connected to", address},
		{Serve, "broker-listen", text, ":9094", "address of the broker's gRPC API", address},
		{Serve, "admin-listen", text, ":9095", "address of /livez, /readyz, /metrics and /debug/pprof", address},
		{Serve, "registry-url", text, "", "a Confluent-compatible registry for a gateway that runs without the registry role", urls},
		{Serve, "broker", text, "", "HOST:PORT of a broker for a gateway that runs without the broker role", address},
		{Serve, "validation", text, "permissive", "what the gateway does with values that break their schema, unless the topic says otherwise: off, permissive or strict", oneOf("off", "permissive", "strict")},
		{Serve, "key-validation", text, "permissive", "what the gateway does with keys that break their schema: off, permissive or strict", oneOf("off", "permissive", "strict")},
		{Serve, "local-kms-secret", text, "", "secret behind key encryption keys of the type local-kms, for tests", nil},
		{Serve, "remote-import", toggle, "true", "let POST /milena/v1/import read from the registry that a request names by URL", nil},
		{Serve, "tail-cache-bytes", number, "67108864", "memory for fresh record batches served as they were sent; 0 turns the cache off", atLeast(0)},
		{Serve, "auto-create-topics", toggle, "true", "create a topic when a client asks for one that does not exist", nil},
		{Serve, "default-partitions", number, "1", "partitions of topics created without a number", between(1, 10_000)},
		{Serve, "group-initial-rebalance-delay", duration, "3s", "how long the first rebalance of an empty group waits for more members", nil},
		{Serve, "shutdown-timeout", duration, "20s", "how long a stop waits for requests under way", nil},
		{Serve, "log-level", text, "info", "least severe log line to write", oneOf("debug", "info", "warn", "error")},
		{Serve, "log-format", text, "text", "form of log lines on standard error", oneOf("text", "json")},

		{Client, "config", text, "", "YAML file with these settings by name", nil},
		{Client, "registry-url", text, "http://localhost:8081", "the registry; several URLs of the same one are separated by commas", urls},
		{Client, "registry-context", text, "", "context of unqualified subjects; default is all for lists, else the default context", nil},
		{Client, "registry-timeout", duration, "30s", "how long one request may take", atLeastAMillisecond},
		{Client, "registry-ca-file", text, "", "PEM file of the authorities to trust instead of the system's", nil},
		{Client, "registry-cert-file", text, "", "PEM file of the certificate to show to the registry", nil},
		{Client, "registry-key-file", text, "", "PEM file of that certificate's key", nil},
		{Client, "registry-user", secret, "", "user name, if the URL has none", nil},
		{Client, "registry-password", secret, "", "that user's password", nil},
		{Client, "registry-token", secret, "", "bearer token", nil},
	}
}

func oneOf(allowed ...string) func(string) error {
	return func(value string) error {
		for _, a := range allowed {
			if value == a {
				return nil
			}
		}
		return fmt.Errorf("%q is not one of %s", value, strings.Join(allowed, ", "))
	}
}

func atLeast(low int64) func(string) error {
	return func(value string) error {
		if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < low {
			return fmt.Errorf("%q is not a whole number from %d on", value, low)
		}
		return nil
	}
}

func between(low, high int64) func(string) error {
	return func(value string) error {
		if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < low || n > high {
			return fmt.Errorf("%q is not a whole number from %d to %d", value, low, high)
		}
		return nil
	}
}

func atLeastAMillisecond(value string) error {
	if d, err := time.ParseDuration(value); err == nil && d < time.Millisecond {
		return fmt.Errorf("%q is less than a millisecond", value)
	}
	return nil
}

func notEmpty(value string) error {
	if value == "" {
		return errors.New("is empty")
	}
	return nil
}

// urls checks one URL or several, separated by commas; the last word is the
// client's.
func urls(value string) error {
	if value == "" {
		return nil
	}
	for item := range strings.SplitSeq(value, ",") {
		u, err := url.Parse(strings.TrimSpace(item))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return errors.New("want http://HOST:PORT or https://HOST:PORT")
		}
	}
	return nil
}

// address checks HOST:PORT without looking the host up.
func address(value string) error {
	if value == "" {
		return nil
	}
	i := strings.LastIndexByte(value, ':')
	if i < 0 {
		return fmt.Errorf("%q has no port; want HOST:PORT", value)
	}
	if n, err := strconv.Atoi(value[i+1:]); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q has no port from 0 to 65535", value)
	}
	if host := value[:i]; strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		return fmt.Errorf("%q: write an IPv6 host in brackets", value)
	}
	return nil
}

// checkKind says whether value is of the kind.
func (k kind) check(value string) error {
	switch k {
	case toggle:
		if _, err := strconv.ParseBool(value); err != nil {
			return fmt.Errorf("%q is neither true nor false", value)
		}
	case number:
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			return fmt.Errorf("%q is not a whole number", value)
		}
	case duration:
		if d, err := time.ParseDuration(value); err != nil || d < 0 {
			return fmt.Errorf("%q is not a duration such as 500ms or 5s", value)
		}
	}
	return nil
}

package kapi

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/backend"
)

// configRow is one config of a topic, or of the node.
type configRow struct {
	name string
	kind kmsg.ConfigType
	// value is the default.
	value string
	// synonym is the node's config that the default comes from, "" if none.
	synonym string
	// check reports a value that can't be meant, in words for the client.
	check func(value string) error
	doc   string
	// static: the value was set for this node and is not Kafka's default.
	static bool
}

// source says where a default comes from.
func (r configRow) source() kmsg.ConfigSource {
	if r.static {
		return kmsg.ConfigSourceStaticBrokerConfig
	}
	return kmsg.ConfigSourceDefaultConfig
}

// configTable is the configs by name and sorted; immutable.
type configTable struct {
	sorted []configRow
	byName map[string]int
	node   []configRow
}

func newConfigTable(o Options) configTable {
	t := configTable{sorted: topicConfigs(o), node: nodeConfigs(o), byName: map[string]int{}}
	byName := func(a, b configRow) int { return strings.Compare(a.name, b.name) }
	slices.SortFunc(t.sorted, byName)
	slices.SortFunc(t.node, byName)
	for i, r := range t.sorted {
		t.byName[r.name] = i
	}
	return t
}

// lookup finds a topic config.
func (t configTable) lookup(name string) (configRow, bool) {
	i, ok := t.byName[name]
	if !ok {
		return configRow{}, false
	}
	return t.sorted[i], true
}

// text is a topic's effective value of a config of the table.
func (t configTable) text(configs map[string]string, name string) string {
	if v, ok := configs[name]; ok {
		return v
	}
	r, _ := t.lookup(name)
	return r.value
}

// topicText is the topic's effective value of a config: its own or the default.
// Names outside the table give "".
func (s *Server) topicText(t backend.Topic, name string) string {
	return s.configs.text(t.Configs, name)
}

// topicInt is topicText as a number; values were checked when they were set, so
// that what isn't a number is 0.
func (s *Server) topicInt(t backend.Topic, name string) int64 {
	n, err := strconv.ParseInt(s.topicText(t, name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// configError is a refused topic config: INVALID_CONFIG with words for the
// client.
type configError struct{ text string }

func (e *configError) Error() string { return e.text }
func (e *configError) Unwrap() error { return kerr.InvalidConfig }

// checkTopicConfig reports an unknown name or a value that can't be meant, and
// returns the value in the form that is stored.
func (t configTable) checkTopicConfig(name string, value *string) (string, error) {
	row, ok := t.lookup(name)
	if !ok {
		return "", &configError{fmt.Sprintf("unknown topic config name: %s", name)}
	}
	if value == nil {
		return "", &configError{fmt.Sprintf("null value not supported for topic config: %s", name)}
	}
	v := strings.TrimSpace(*value)
	if row.kind == kmsg.ConfigTypeBoolean {
		v = strings.ToLower(v)
	}
	if err := row.check(v); err != nil {
		return "", &configError{fmt.Sprintf("invalid value %q for configuration %s: %v", *value, name, err)}
	}
	return v, nil
}

// Checks. Each says in its error what is wanted.

func anyText(string) error { return nil }

func boolean(v string) error {
	if v != "true" && v != "false" {
		return fmt.Errorf("must be true or false")
	}
	return nil
}

func between(lo, hi int64) func(string) error {
	return func(v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return fmt.Errorf("not a number of this type")
		}
		if n < lo || n > hi {
			return fmt.Errorf("must be %d to %d", lo, hi)
		}
		return nil
	}
}

func intFrom(lo int64) func(string) error  { return between(lo, math.MaxInt32) }
func longFrom(lo int64) func(string) error { return between(lo, math.MaxInt64) }

func ratio(v string) error {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f >= 0 && f <= 1) {
		return fmt.Errorf("must be a number from 0 to 1")
	}
	return nil
}

func oneOf(values ...string) func(string) error {
	return func(v string) error {
		if !slices.Contains(values, v) {
			return fmt.Errorf("must be one of %s", strings.Join(values, ", "))
		}
		return nil
	}
}

// listOf accepts a comma separated list, not empty, of the values, each once.
func listOf(values ...string) func(string) error {
	return func(v string) error {
		seen := map[string]bool{}
		for item := range strings.SplitSeq(v, ",") {
			item = strings.TrimSpace(item)
			if !slices.Contains(values, item) || seen[item] {
				return fmt.Errorf("must be a list of %s, each once", strings.Join(values, ", "))
			}
			seen[item] = true
		}
		return nil
	}
}

// gzipLevel: -1 is the codec's own default, 1 to 9 are levels.
func gzipLevel(v string) error {
	if v == "-1" {
		return nil
	}
	if between(1, 9)(v) != nil {
		return fmt.Errorf("must be -1 or 1 to 9")
	}
	return nil
}

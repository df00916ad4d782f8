package kapi

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"milena/gateway/envelope"
)

// TestConfigTables: names ascend and are unique, every default passes its own
// check, every synonym exists on the node with the same value.
func TestConfigTables(t *testing.T) {
	table := newConfigTable(Options{}.withDefaults())
	node := map[string]configRow{}
	for i, r := range table.node {
		if i > 0 && table.node[i-1].name >= r.name {
			t.Errorf("%s: names must ascend", r.name)
		}
		node[r.name] = r
	}
	for i, r := range table.sorted {
		if i > 0 && table.sorted[i-1].name >= r.name {
			t.Errorf("%s: names must ascend", r.name)
		}
		if _, err := table.checkTopicConfig(r.name, &r.value); err != nil && r.kind != kmsg.ConfigTypeList {
			t.Errorf("default of %s: %v", r.name, err)
		}
		if r.doc == "" || r.kind == kmsg.ConfigTypeUnknown {
			t.Errorf("%s: incomplete row", r.name)
		}
		if r.synonym != "" && (node[r.synonym].value != r.value || node[r.synonym].kind != r.kind) {
			t.Errorf("%s: synonym %s is %+v", r.name, r.synonym, node[r.synonym])
		}
	}
	for _, name := range envelope.ConfigNames() {
		if _, ok := table.lookup(name); !ok {
			t.Errorf("%s is missing", name)
		}
	}
}

// TestConfigValues reads name, value and verdict of each line of a file.
func TestConfigValues(t *testing.T) {
	text, err := os.ReadFile("testdata/config_values.txt")
	if err != nil {
		t.Fatal(err)
	}
	table := newConfigTable(Options{}.withDefaults())
	lines := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		lines++
		verdict, rest, _ := strings.Cut(line, " ")
		name, value, _ := strings.Cut(rest, "=")
		stored, err := table.checkTopicConfig(name, &value)
		if (err == nil) != (verdict == "ok") {
			t.Errorf("%s: %v", line, err)
		}
		if err == nil && stored != strings.TrimSpace(strings.ToLower(value)) && stored != strings.TrimSpace(value) {
			t.Errorf("%s: stored as %q", line, stored)
		}
	}
	if lines < 30 {
		t.Errorf("only %d lines", lines)
	}
}

func describe(kind kmsg.ConfigResourceType, name string, keys ...string) *kmsg.DescribeConfigsRequest {
	req := kmsg.NewPtrDescribeConfigsRequest()
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = kind, name, keys
	req.Resources = append(req.Resources, r)
	return req
}

func askConfigs(t *testing.T, s *Server, version int16, req *kmsg.DescribeConfigsRequest) []kmsg.DescribeConfigsResponseResource {
	t.Helper()
	resp := ask(t, s, version, req).(*kmsg.DescribeConfigsResponse)
	roundTrip(t, resp)
	return resp.Resources
}

func TestDescribeTopicConfigs(t *testing.T) {
	s := newServer(t, Options{MessageBytesMax: 5000, ValueMode: envelope.Strict})
	mustCreate(t, s, "t", 1, map[string]string{"retention.ms": "123"})
	for v := int16(0); v <= 4; v++ {
		req := describe(kmsg.ConfigResourceTypeTopic, "t")
		req.IncludeSynonyms, req.IncludeDocumentation = v >= 1, v >= 3
		r := askConfigs(t, s, v, req)[0]
		if r.ErrorCode != 0 || len(r.Configs) != len(s.configs.sorted) {
			t.Fatalf("v%d: code %d, %d configs", v, r.ErrorCode, len(r.Configs))
		}
		for _, c := range r.Configs {
			want, source := "", kmsg.ConfigSourceDefaultConfig
			switch c.Name {
			case "retention.ms":
				want, source = "123", kmsg.ConfigSourceDynamicTopicConfig
			case "max.message.bytes":
				want, source = "5000", kmsg.ConfigSourceStaticBrokerConfig
			case "milena.value.validation":
				want = "strict"
			case "milena.key.validation":
				want = "permissive"
			default:
				row, _ := s.configs.lookup(c.Name)
				want = row.value
			}
			if *c.Value != want || c.Source != source || c.IsDefault != (source == kmsg.ConfigSourceDefaultConfig) {
				t.Errorf("v%d: %s=%s source %d, want %s source %d", v, c.Name, *c.Value, c.Source, want, source)
			}
			if v >= 1 && (len(c.ConfigSynonyms) == 0 || c.ConfigSynonyms[0].Source != c.Source || *c.ConfigSynonyms[0].Value != *c.Value) {
				t.Errorf("v%d: %s has synonyms %+v", v, c.Name, c.ConfigSynonyms)
			}
			if v >= 3 && (c.Documentation == nil || c.ConfigType == kmsg.ConfigTypeUnknown) {
				t.Errorf("v%d: %s has no documentation or type", v, c.Name)
			}
		}
	}
}

func TestDescribeResources(t *testing.T) {
	s := newServer(t, Options{NodeID: 3})
	mustCreate(t, s, "t", 1, nil)
	for _, c := range []struct {
		name  string
		kind  kmsg.ConfigResourceType
		what  string
		code  int16
		count int
	}{
		{"topic", kmsg.ConfigResourceTypeTopic, "t", 0, len(s.configs.sorted)},
		{"unknown topic", kmsg.ConfigResourceTypeTopic, "absent", kerr.UnknownTopicOrPartition.Code, 0},
		{"bad topic", kmsg.ConfigResourceTypeTopic, "a b", kerr.InvalidTopicException.Code, 0},
		{"node", kmsg.ConfigResourceTypeBroker, "3", 0, len(s.configs.node)},
		{"all nodes", kmsg.ConfigResourceTypeBroker, "", 0, 0},
		{"another node", kmsg.ConfigResourceTypeBroker, "4", kerr.InvalidRequest.Code, 0},
		{"loggers", kmsg.ConfigResourceTypeBrokerLogger, "3", kerr.InvalidRequest.Code, 0},
	} {
		req := describe(c.kind, c.what)
		req.Resources = append(req.Resources, req.Resources[0])
		got := askConfigs(t, s, 4, req)
		if len(got) != 1 || got[0].ErrorCode != c.code || len(got[0].Configs) != c.count || got[0].Configs == nil {
			t.Errorf("%s: %d resources, code %d, %d configs", c.name, len(got), got[0].ErrorCode, len(got[0].Configs))
		}
	}
	got := askConfigs(t, s, 4, describe(kmsg.ConfigResourceTypeTopic, "t", "retention.ms", "no.such.config", "cleanup.policy"))
	var names []string
	for _, c := range got[0].Configs {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"cleanup.policy", "retention.ms"}) {
		t.Errorf("named keys: %v", names)
	}
}

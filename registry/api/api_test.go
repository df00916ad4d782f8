package api_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"milena/registry/api"
)

func ptr[T any](v T) *T { return &v }

func TestDecodeRegister(t *testing.T) {
	for _, c := range []struct {
		body string
		want api.RegisterRequest
	}{
		{`{}`, api.RegisterRequest{}},
		{`{"schema":"\"int\""}`, api.RegisterRequest{Schema: ptr(`"int"`)}},
		{`{"schema":5}`, api.RegisterRequest{Schema: ptr("5")}},
		{`{"schema":1.50}`, api.RegisterRequest{Schema: ptr("1.50")}},
		{`{"schema":true}`, api.RegisterRequest{Schema: ptr("true")}},
		{`{"schema":null,"schemaType":null}`, api.RegisterRequest{}},
		{`{"schema":"a","schema":"b"}`, api.RegisterRequest{Schema: ptr("b")}},
		{`{"Schema":"a","SCHEMATYPE":"b","unknown":{}}`, api.RegisterRequest{}},
		{`{"schemaType":""}`, api.RegisterRequest{SchemaType: ptr("")}},
		{`{"id":0,"version":-1}`, api.RegisterRequest{ID: ptr(0), Version: ptr(-1)}},
		{`{"id":"7","version":" 2 "}`, api.RegisterRequest{ID: ptr(7), Version: ptr(2)}},
		{`{"id":"","version":2.9}`, api.RegisterRequest{Version: ptr(2)}},
		{`{"references":[]}`, api.RegisterRequest{}},
		{
			`{"references":[{"name":"n","subject":"s","version":"3"},{"name":"m"}]}`,
			api.RegisterRequest{References: []api.Reference{{Name: "n", Subject: "s", Version: 3}, {Name: "m"}}},
		},
		{`{"metadata":{}}`, api.RegisterRequest{Metadata: &api.Metadata{}}},
		{
			`{"metadata":{"tags":{"p":["b","a","b"]},"properties":{"k":1},"sensitive":["z","k"]}}`,
			api.RegisterRequest{Metadata: &api.Metadata{
				Tags: map[string][]string{"p": {"a", "b"}}, Properties: map[string]string{"k": "1"}, Sensitive: []string{"k", "z"},
			}},
		},
		{`{"metadata":{"tags":{},"properties":{},"sensitive":[]}}`, api.RegisterRequest{Metadata: &api.Metadata{}}},
		{`{"ruleSet":{"domainRules":[]}}`, api.RegisterRequest{RuleSet: &api.RuleSet{}}},
		{
			`{"ruleSet":{"migrationRules":[{"name":"r","mode":"UPGRADE","disabled":"true"}],"enableAt":"ALL"}}`,
			api.RegisterRequest{RuleSet: &api.RuleSet{EnableAt: "ALL", MigrationRules: []api.Rule{
				{Name: "r", Kind: "TRANSFORM", Mode: "UPGRADE", Disabled: true},
			}}},
		},
		{
			`{"schemaTagsToAdd":[{"schemaEntity":{"entityPath":"R","entityType":"sr_record"},"tags":["T"]}],"propagateSchemaTags":1}`,
			api.RegisterRequest{PropagateSchemaTags: true, SchemaTagsToAdd: []api.SchemaTags{
				{SchemaEntity: &api.SchemaEntity{EntityPath: "R", EntityType: "sr_record"}, Tags: []string{"T"}},
			}},
		},
	} {
		got, err := api.DecodeRegister([]byte(c.body))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.body, got, err, c.want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for body, contains := range map[string]string{
		`{`:                                      "unexpected end of input",
		`x`:                                      "Malformed JSON",
		`{} {}`:                                  "Trailing token",
		`[]`:                                     "from Array value (token `JsonToken.START_ARRAY`)",
		`"s"`:                                    "from String value",
		`{"schema":{}}`:                          "Cannot deserialize value of type `String` from Object value (token `JsonToken.START_OBJECT`)",
		`{"schema":["a"]}`:                       "JsonToken.START_ARRAY",
		`{"id":"x"}`:                             "of type `Integer` from String \"x\"",
		`{"id":true}`:                            "JsonToken.VALUE_TRUE",
		`{"id":2147483648}`:                      "out of range",
		`{"version":1e300}`:                      "out of range",
		`{"references":{}}`:                      "START_OBJECT",
		`{"references":[null]}`:                  "null is not a reference",
		`{"metadata":[]}`:                        "START_ARRAY",
		`{"metadata":{"properties":{"a":null}}}`: "null is not a value of properties",
		`{"ruleSet":{"domainRules":[{"mode":"write"}]}}`:            "[DOWNGRADE, READ, UPGRADE, UPDOWN, WRITE, WRITEREAD]",
		`{"ruleSet":{"enableAt":"SOMETIMES"}}`:                      "ExecutionEnvironment",
		`{"propagateSchemaTags":"yes"}`:                             "of type `Boolean`",
		`{"schemaTagsToAdd":[{"schemaEntity":{"entityType":"x"}}]}`: "EntityType",
	} {
		_, err := api.DecodeRegister([]byte(body))
		var de *api.DecodeError
		if !errors.As(err, &de) || !strings.Contains(de.Message, contains) {
			t.Errorf("%s: %v, want %q", body, err, contains)
		}
	}
	for _, body := range []string{"", " \n", "null", " null "} {
		if _, err := api.DecodeRegister([]byte(body)); !errors.Is(err, api.ErrNoBody) {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestDecodeSettings(t *testing.T) {
	c, err := api.DecodeConfig([]byte(`{"compatibility":"none","alias":null,"normalize":"false","compatibilityLevel":"FULL","defaultMetadata":{}}`))
	want := api.ConfigRequest{
		Compatibility: api.Given("none"), Alias: api.Null[string](), Normalize: api.Given(false), DefaultMetadata: api.Given(api.Metadata{}),
	}
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, %v", c, err)
	}
	for body, want := range map[string]api.Field[string]{
		`{"mode":"IMPORT"}`: api.Given("IMPORT"),
		`{"mode":null}`:     api.Null[string](),
		`{"mode":5}`:        api.Given("5"),
		`{}`:                {},
	} {
		m, err := api.DecodeMode([]byte(body))
		if err != nil || !reflect.DeepEqual(m.Mode, want) {
			t.Errorf("%s: %+v, %v", body, m, err)
		}
	}
}

func TestMarshal(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{
			api.Schema{Subject: "s", Version: 1, ID: 0, SchemaType: "AVRO", Schema: `"<&>"`, Timestamp: ptr(int64(5)), Deleted: ptr(false)},
			`{"subject":"s","version":1,"id":0,"schemaType":"AVRO","schema":"\"<&>\"","ts":5,"deleted":false}`,
		},
		{api.RegisterResponse{ID: 0}, `{"id":0}`},
		{api.Metadata{}, `{}`},
		{api.CompatibilityResponse{}, `{"is_compatible":false}`},
		{api.CompatibilityResponse{IsCompatible: true, Messages: &[]string{}}, `{"is_compatible":true,"messages":[]}`},
		{api.ConfigRequest{}, `{}`},
		{
			api.ConfigRequest{Alias: api.Given(""), Normalize: api.Null[bool](), DefaultMetadata: api.Given(api.Metadata{})},
			`{"alias":"","normalize":null,"defaultMetadata":{}}`,
		},
		{api.ModeRequest{Mode: api.Null[string]()}, `{"mode":null}`},
		{api.Mode{}, `{}`},
		{api.Config{CompatibilityLevel: "NONE", Normalize: ptr(false)}, `{"normalize":false,"compatibilityLevel":"NONE"}`},
		{api.Deployment{Attributes: []string{}}, `{"attributes":[]}`},
		{"grüß \u2028\u2029 \U0001F600\\u2028 \U0010FFFF", `"grüß ` + "\u2028\u2029" + ` \uD83D\uDE00\\u2028 \uDBFF\uDFFF"`},
		{map[string]int{"b": 1, "a": 2}, `{"a":2,"b":1}`},
	} {
		got, err := api.Marshal(c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s, %v, want %s", got, err, c.want)
		}
	}
	if _, err := api.Marshal(func() {}); err == nil {
		t.Error("a function was encoded")
	}
}

// TestFieldRoundTrip is what a client does with the answer of PUT config.
func TestFieldRoundTrip(t *testing.T) {
	want := api.ConfigRequest{Compatibility: api.Given("FULL"), Alias: api.Null[string]()}
	b, err := api.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got api.ConfigRequest
	if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s became %+v, %v", b, got, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"schema":"\"int\"","id":1,"version":2,"references":[{"name":"n","subject":"s","version":1}]}`))
	f.Add([]byte(`{"metadata":{"tags":{"a":["b"]},"properties":{"c":"d"},"sensitive":["c"]},"ruleSet":{"domainRules":[{"name":"r"}]}}`))
	f.Add([]byte(`{"compatibility":null,"mode":"x","schemaTagsToAdd":[{}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := api.DecodeRegister(body)
		if err == nil {
			// What is sent on, by a client say, reads the same.
			b, err := api.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			again, err := api.DecodeRegister(b)
			if err != nil || !reflect.DeepEqual(again, r) {
				t.Fatalf("%s: %+v became %+v, %v", b, r, again, err)
			}
		}
		_, _ = api.DecodeConfig(body)
		_, _ = api.DecodeMode(body)
		_, _ = api.DecodeTags(body)
	})
}

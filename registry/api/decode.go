package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// ErrNoBody says that a body which must be there is missing, empty or null. The
// registry answers 422 to it and 400 to every other reading error.
var ErrNoBody = errors.New("body must not be null")

// DecodeError says why a body could not be read, in the words that the client
// gets.
type DecodeError struct{ Message string }

// Error returns the message.
func (e *DecodeError) Error() string { return e.Message }

// DecodeRegister reads the body of a registration, look-up or compatibility
// check. Errors are ErrNoBody or of type *DecodeError, here and below.
func DecodeRegister(body []byte) (RegisterRequest, error) {
	if r, ok := quickRegister(body); ok {
		return r, nil
	}
	return decodeRegister(body)
}

func decodeRegister(body []byte) (RegisterRequest, error) {
	o, err := object(body)
	if err != nil {
		return RegisterRequest{}, err
	}
	d := &decoder{}
	r := d.register(o)
	return r, d.result()
}

func (d *decoder) register(o map[string]any) RegisterRequest {
	var r RegisterRequest
	r.Version = d.integer(o["version"])
	r.ID = d.integer(o["id"])
	r.SchemaType = d.text(o["schemaType"])
	r.Schema = d.text(o["schema"])
	r.References = d.references(o["references"])
	r.Metadata = d.metadata(o["metadata"])
	r.RuleSet = d.ruleSet(o["ruleSet"])
	r.SchemaTagsToAdd = d.schemaTags(o["schemaTagsToAdd"])
	r.SchemaTagsToRemove = d.schemaTags(o["schemaTagsToRemove"])
	if b := d.boolean(o["propagateSchemaTags"]); b != nil {
		r.PropagateSchemaTags = *b
	}
	return r
}

// DecodeTags reads the body of a request that changes tags.
func DecodeTags(body []byte) (TagsRequest, error) {
	var r TagsRequest
	o, err := object(body)
	if err != nil {
		return r, err
	}
	d := &decoder{}
	r.NewVersion = d.integer(o["newVersion"])
	r.TagsToAdd = d.schemaTags(o["tagsToAdd"])
	r.TagsToRemove = d.schemaTags(o["tagsToRemove"])
	r.Metadata = d.metadata(o["metadata"])
	r.RuleSet = d.ruleSet(o["ruleSet"])
	r.RulesToMerge = d.ruleSet(o["rulesToMerge"])
	r.RulesToRemove = list(d, o["rulesToRemove"], d.textOr)
	return r, d.result()
}

// DecodeConfig reads the body of PUT config.
func DecodeConfig(body []byte) (ConfigRequest, error) {
	var r ConfigRequest
	o, err := object(body)
	if err != nil {
		return r, err
	}
	d := &decoder{}
	r.Alias = field(o, "alias", d.text)
	r.AliasForDeks = field(o, "aliasForDeks", d.text)
	r.Normalize = field(o, "normalize", d.boolean)
	r.ValidateFields = field(o, "validateFields", d.boolean)
	r.ValidateNewSchemas = field(o, "validateNewSchemas", d.boolean)
	r.ValidateRules = field(o, "validateRules", d.boolean)
	r.Compatibility = field(o, "compatibility", d.text)
	r.CompatibilityPolicy = field(o, "compatibilityPolicy", d.text)
	r.CompatibilityGroup = field(o, "compatibilityGroup", d.text)
	r.DefaultMetadata = field(o, "defaultMetadata", d.metadata)
	r.OverrideMetadata = field(o, "overrideMetadata", d.metadata)
	r.DefaultRuleSet = field(o, "defaultRuleSet", d.ruleSet)
	r.OverrideRuleSet = field(o, "overrideRuleSet", d.ruleSet)
	return r, d.result()
}

// DecodeMode reads the body of PUT mode.
func DecodeMode(body []byte) (ModeRequest, error) {
	var r ModeRequest
	o, err := object(body)
	if err != nil {
		return r, err
	}
	d := &decoder{}
	r.Mode = field(o, "mode", d.text)
	return r, d.result()
}

// object reads one JSON object and nothing after it. A tree of generic values
// is what gives case sensitive keys and conversions between scalars.
func object(body []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, ErrNoBody
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, &DecodeError{"Malformed JSON: " + parserText(err)}
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, &DecodeError{"Trailing token found after the value"}
	}
	switch v := v.(type) {
	case nil:
		return nil, ErrNoBody
	case map[string]any:
		return v, nil
	default:
		return nil, mismatch("Object", v)
	}
}

// parserText cuts the name of the Go package out of a parser's message.
func parserText(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "unexpected end of input"
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// decoder converts generic values and keeps the first error.
type decoder struct{ err error }

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *decoder) result() error { return d.err }

func mismatch(want string, v any) error {
	kind, token := "Object", "START_OBJECT"
	switch v := v.(type) {
	case []any:
		kind, token = "Array", "START_ARRAY"
	case string:
		kind, token = "String", "VALUE_STRING"
	case json.Number:
		kind, token = "Number", "VALUE_NUMBER"
	case bool:
		kind, token = "Boolean", "VALUE_"+strings.ToUpper(strconv.FormatBool(v))
	}
	return &DecodeError{fmt.Sprintf("Cannot deserialize value of type `%s` from %s value (token `JsonToken.%s`)",
		want, kind, token)}
}

func badText(want, text string) error {
	return &DecodeError{fmt.Sprintf("Cannot deserialize value of type `%s` from String %q: not a valid value", want, text)}
}

// text takes any scalar.
func (d *decoder) text(v any) *string {
	var s string
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		s = v
	case json.Number:
		s = v.String()
	case bool:
		s = strconv.FormatBool(v)
	default:
		d.fail(mismatch("String", v))
		return nil
	}
	return &s
}

// textOr is text with "" for null.
func (d *decoder) textOr(v any) string {
	if s := d.text(v); s != nil {
		return *s
	}
	return ""
}

// integer takes a number, whose fraction is cut off, or a number as text. The
// range is that of 32 bits.
func (d *decoder) integer(v any) *int {
	var text string
	switch v := v.(type) {
	case nil:
		return nil
	case json.Number:
		text = v.String()
	case string:
		if text = strings.TrimSpace(v); text == "" {
			return nil
		}
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			d.fail(badText("Integer", v))
			return nil
		}
	default:
		d.fail(mismatch("Integer", v))
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < math.MinInt32 || f >= math.MaxInt32+1 {
		d.fail(&DecodeError{fmt.Sprintf("Numeric value (%.40s) out of range of int", text)})
		return nil
	}
	n := int(f)
	return &n
}

// boolean takes a boolean, its text, or a number.
func (d *decoder) boolean(v any) *bool {
	var b bool
	switch v := v.(type) {
	case nil:
		return nil
	case bool:
		b = v
	case json.Number:
		n, err := v.Int64()
		if err != nil {
			d.fail(mismatch("Boolean", v))
			return nil
		}
		b = n != 0
	case string:
		switch strings.TrimSpace(v) {
		case "":
			return nil
		case "true", "True", "TRUE":
			b = true
		case "false", "False", "FALSE":
		default:
			d.fail(badText("Boolean", v))
			return nil
		}
	default:
		d.fail(mismatch("Boolean", v))
		return nil
	}
	return &b
}

func field[T any](o map[string]any, name string, read func(any) *T) Field[T] {
	v, ok := o[name]
	return Field[T]{Present: ok, Value: read(v)}
}

// list applies read to each element; null is an empty list.
func list[T any](d *decoder, v any, read func(any) T) []T {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		if len(v) == 0 {
			return nil
		}
		out := make([]T, 0, len(v))
		for _, e := range v {
			out = append(out, read(e))
		}
		return out
	default:
		d.fail(mismatch("Array", v))
		return nil
	}
}

// members returns the members of an object; null has none and is reported.
func (d *decoder) members(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case nil:
		return nil, false
	case map[string]any:
		return v, true
	default:
		d.fail(mismatch("Object", v))
		return nil, false
	}
}

// stringMap reads an object of texts; null values are refused.
func (d *decoder) stringMap(v any, what string) map[string]string {
	o, ok := d.members(v)
	if !ok || len(o) == 0 {
		return nil
	}
	out := make(map[string]string, len(o))
	for k, e := range o {
		if e == nil {
			d.fail(&DecodeError{fmt.Sprintf("null is not a value of %s", what)})
			continue
		}
		out[k] = d.textOr(e)
	}
	return out
}

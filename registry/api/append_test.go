package api

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// fill gives every field of a body some value, of any depth, so that a field
// which is added to a body and forgotten in append.go is found.
func fill(t *rapid.T, v reflect.Value, depth int) {
	if depth > 6 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "given") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(0, 2).Draw(t, "len"), 2))
		for i := range v.Len() {
			fill(t, v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rapid.IntRange(0, 2).Draw(t, "len") {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(t, key, depth+1)
			fill(t, value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(rapid.OneOf(
			rapid.Just(""), rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.SampledFrom([]string{"\x00\x1f\x7f\b\f\n\r\t\"\\/<>&", "\u2028\u2029é￿", "😀\U0010FFFF", "\xed\xa0\x80\xff"}),
		).Draw(t, "text"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.SampledFrom([]int64{0, 1, -7, 1 << 40}).Draw(t, "number"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	}
}

// TestAppendIsMarshal compares what append.go writes with encoding/json.
func TestAppendIsMarshal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, v := range []any{&Schema{}, &SchemaString{}, &RegisterResponse{}} {
			fill(t, reflect.ValueOf(v).Elem(), 0)
			body := reflect.ValueOf(v).Elem().Interface()
			want, err := marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Marshal(body)
			if err != nil || string(got) != string(want) {
				t.Fatalf("%T is\n%s, %v, want\n%s", body, got, err, want)
			}
			if s, ok := v.(*Schema); ok {
				if got, err := AppendSchema([]byte("["), s); err != nil || string(got) != "["+string(want) {
					t.Fatalf("appended %s, %v, want %s", got, err, want)
				}
			}
		}
		name := rapid.String().Draw(t, "name")
		want, err := marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendName(nil, name); string(got) != string(want) {
			t.Fatalf("name is %s, want %s", got, want)
		}
	})
}

package api

import (
	"reflect"
	"testing"
)

// FuzzQuickRegister compares what the quick reader takes with the reader of
// every body.
func FuzzQuickRegister(f *testing.F) {
	for _, body := range quickBodies() {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		quick, ok := quickRegister(body)
		if !ok {
			return
		}
		slow, err := decodeRegister(body)
		if err != nil || !reflect.DeepEqual(quick, slow) {
			t.Fatalf("%q is read as %+v, want %+v, %v", body, quick, slow, err)
		}
	})
}

func quickBodies() []string {
	return []string{
		`{"schema":"\"int\""}`,
		" {\n\t\"schemaType\" : \"JSON\" , \"schema\" : \"{\\u0041\\ud83d\\ude00\\ud83d\\n\\/é}\" } \r\n",
		"{\"schema\":\"a\xffb\xed\xa0\x80\"}",
	}
}

func TestQuickRegister(t *testing.T) {
	for _, body := range quickBodies() {
		if _, ok := quickRegister([]byte(body)); !ok {
			t.Errorf("%s is not read", body)
		}
	}
	for _, body := range []string{
		``, `{}`, `null`, `[]`, `{"schema":7}`, `{"schema":null}`, `{"schema":"a","schema":"b"}`, `{"schema":"a"} x`, `{"schema":"a"`,
		`{"schema":"a",}`, `{"schema":"a","id":1}`, `{"Schema":"a"}`, `{"schema":"\x"}`, "{\"schema\":\"a\nb\"}", `{"schema":"a\`, `{"schema" "a"}`,
		`{"schema":"a";"schemaType":"b"}`, `{"s\u0063hema":"a"}`, `{"schema`,
	} {
		if r, ok := quickRegister([]byte(body)); ok {
			t.Errorf("%s is read as %+v", body, r)
		}
	}
}

package errcode_test

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"milena/registry/errcode"
)

var verb = regexp.MustCompile(`%[sdv]`)

func TestTable(t *testing.T) {
	codes, names := map[int]bool{}, map[string]bool{}
	for _, r := range errcode.Table() {
		if codes[r.Code] || names[r.Name] {
			t.Errorf("%d %s is there twice", r.Code, r.Name)
		}
		codes[r.Code], names[r.Name] = true, true
		if prefix := fmt.Sprint(r.Code)[:3]; prefix != fmt.Sprint(r.Status) {
			t.Errorf("%s has status %d, its code begins with %s", r.Name, r.Status, prefix)
		}
		if n := len(verb.FindAllString(r.Format, -1)); n != len(r.Params) || strings.Count(r.Format, "%") != n {
			t.Errorf("%s has %d parameters, its format %q takes %d", r.Name, len(r.Params), r.Format, n)
		}
		if r.Retriable && r.Status < 500 && r.Status != 429 {
			t.Errorf("%s is the client's fault and retriable", r.Name)
		}
		if r.Since == "" || r.Format == "" {
			t.Errorf("%s is incomplete", r.Name)
		}
		if errcode.ByCode(r.Code) != r {
			t.Errorf("%s is not found by its code", r.Name)
		}
	}
}

func TestErrorsKeepTheirRow(t *testing.T) {
	err := fmt.Errorf("read: %w", errcode.VersionSoftDeleted.New("s", 3).Because(io.EOF))
	if !errors.Is(err, errcode.VersionSoftDeleted) || errors.Is(err, errcode.VersionNotFound) || !errors.Is(err, io.EOF) {
		t.Errorf("%v is not what it was made as", err)
	}
	e := errcode.Of(err)
	if want := "Subject 's' Version 3 was soft deleted.Set permanent=true to delete permanently"; e.Message != want {
		t.Errorf("message %q, want %q", e.Message, want)
	}
	if strings.Contains(e.Message, "EOF") || !strings.Contains(e.LogValue().String(), "EOF") {
		t.Errorf("the cause is for logs only: %q, %v", e.Message, e.LogValue())
	}
	// What the server prints, the client reads back to the same row.
	parsed := errcode.Parse(e.Row.Status, e.Row.Code, e.Message)
	if !errors.Is(parsed, errcode.VersionSoftDeleted) || parsed.Message != e.Message {
		t.Errorf("parsed to %v", parsed)
	}
}

func TestUnforeseenErrors(t *testing.T) {
	if e := errcode.Of(io.ErrClosedPipe); !errors.Is(e, errcode.Internal) || !errors.Is(e, io.ErrClosedPipe) || e.Message != "Internal Server Error" {
		t.Errorf("%+v", e)
	}
	if e := errcode.Of(nil); e != nil {
		t.Errorf("%+v", e)
	}
	for _, c := range []struct {
		status, code int
		want         *errcode.Row
		retriable    bool
	}{
		{404, 40499, nil, false},
		{503, 50399, nil, true},
		{429, 0, errcode.TooManyRequests, true},
		{502, 0, nil, true},
		{418, 0, nil, false},
		{404, 0, errcode.NotFound, false},
		{409, 409, nil, false},
	} {
		e := errcode.Parse(c.status, c.code, "m")
		if e.Row.Retriable != c.retriable || e.Message != "m" || c.want != nil && e.Row != c.want {
			t.Errorf("%d %d parsed to %+v", c.status, c.code, e.Row)
		}
		if c.want == nil && c.code != 0 && e.Row.Code != c.code {
			t.Errorf("%d lost its number: %d", c.code, e.Row.Code)
		}
	}
}

package kapi

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"milena/gateway/backend"
	"milena/serde/schema"
)

// TestEveryBackendErrorHasARow reads the sentinels from the source, so that a
// new one can't be forgotten here.
func TestEveryBackendErrorHasARow(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../backend/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, row := range errorTable() {
		if row.data == nil || row.coordinator == nil || row.admin == nil {
			t.Errorf("%v: a code is missing", row.err)
		}
		rows[row.err.Error()] = true
	}
	declared := 0
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr) // errors.New("text")
		if !ok {
			return true
		}
		declared++
		text, err := strconv.Unquote(call.Args[0].(*ast.BasicLit).Value)
		if err != nil || !rows[text] {
			t.Errorf("no row for %q", text)
		}
		return true
	})
	if declared == 0 {
		t.Error("no errors found")
	}
}

func TestCodes(t *testing.T) {
	var logged strings.Builder
	s := newServer(t, Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	for _, c := range []struct {
		err                      error
		data, coordinator, admin *kerr.Error
	}{
		{backend.ErrUnavailable, kerr.KafkaStorageError, kerr.CoordinatorNotAvailable, kerr.RequestTimedOut},
		{backend.ErrUnknownTopic, kerr.UnknownTopicOrPartition, kerr.UnknownTopicOrPartition, kerr.UnknownTopicOrPartition},
		{fmt.Errorf("here: %w", kerr.UnknownTopicID), kerr.UnknownTopicID, kerr.UnknownTopicID, kerr.UnknownTopicID},
		{&configError{"no"}, kerr.InvalidConfig, kerr.InvalidConfig, kerr.InvalidConfig},
	} {
		wrapped := fmt.Errorf("read: %w", c.err)
		if got := s.dataCode(wrapped); got != c.data.Code {
			t.Errorf("%v: data code %d, want %v", c.err, got, c.data)
		}
		if got := s.coordinatorCode(wrapped); got != c.coordinator.Code {
			t.Errorf("%v: coordinator code %d, want %v", c.err, got, c.coordinator)
		}
		if got := s.adminCode(wrapped); got != c.admin.Code {
			t.Errorf("%v: admin code %d, want %v", c.err, got, c.admin)
		}
	}
	if s.dataCode(nil) != 0 || logged.Len() > 0 {
		t.Errorf("code of nil %d, logged %q", s.dataCode(nil), logged.String())
	}
	if got := s.dataCode(errors.New("surprise")); got != kerr.UnknownServerError.Code || !strings.Contains(logged.String(), "surprise") {
		t.Errorf("an error nobody knows: code %d, logged %q", got, logged.String())
	}
}

// TestRegistryMessage: a client reads what we say, not what the system says.
func TestRegistryMessage(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("too many unknown schema ids: %w", schema.ErrUnavailable), "too many unknown schema ids: schema registry unavailable"},
		{fmt.Errorf("schema 7: %w: dial 10.0.0.1", schema.ErrUnavailable), "schema 7: schema registry unavailable"},
	} {
		if got := registryMessage(c.err); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestTroubleIsRetriable: what passes by itself has a code that clients retry
// by themselves.
func TestTroubleIsRetriable(t *testing.T) {
	for _, err := range []error{backend.ErrUnavailable, backend.ErrConflict, context.DeadlineExceeded, context.Canceled} {
		row, ok := lookupError(err)
		if !ok || !row.data.Retriable || !row.coordinator.Retriable || !row.admin.Retriable {
			t.Errorf("%v: %v, %v, %v", err, row.data, row.coordinator, row.admin)
		}
	}
}

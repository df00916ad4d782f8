package broker

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"milena/broker/api"
	"milena/broker/brokerpb"
)

// TestErrorTable: every sentinel has its row and every reason its sentinel.
func TestErrorTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "api/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	sentinels := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Err") {
			sentinels++
		}
		return true
	})
	reasons := make(map[brokerpb.Reason]bool)
	for _, row := range errorTable() {
		if reasons[row.reason] {
			t.Errorf("%v twice", row.reason)
		}
		reasons[row.reason] = true
		st := status.Convert(statusError(fmt.Errorf("operation: %w", row.err)))
		if st.Code() != row.code || len(st.Details()) != 1 {
			t.Errorf("%v: status %v", row.err, st)
		}
		if f := failure(fmt.Errorf("operation: %w", row.err)); f.Reason != row.reason {
			t.Errorf("%v: failure %v", row.err, f)
		}
	}
	if len(reasons) != sentinels || len(reasons) != len(brokerpb.Reason_name)-1 {
		t.Errorf("%d rows, %d sentinels, %d reasons", len(reasons), sentinels, len(brokerpb.Reason_name)-1)
	}
	if failure(nil) != nil || statusError(nil) != nil {
		t.Error("no error is one")
	}
}

// TestErrorTextStays: the system's words don't reach clients.
func TestErrorTextStays(t *testing.T) {
	secret := errors.New("open /data/journal/0007: permission denied")
	for _, err := range []error{secret, fmt.Errorf("%w: %w", api.ErrUnavailable, secret), fmt.Errorf("%w: %w", api.ErrCorrupt, secret)} {
		if st := status.Convert(statusError(err)); strings.Contains(st.Message(), "journal") {
			t.Errorf("status %v", st)
		}
		if f := failure(err); strings.Contains(f.Message, "journal") {
			t.Errorf("failure %v", f)
		}
	}
	if st := status.Convert(statusError(secret)); st.Code() != codes.Internal {
		t.Errorf("status %v", st)
	}
}

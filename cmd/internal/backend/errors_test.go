package backend

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestErrorTable: every sentinel of broker/api has a row, and is both itself
// and the gateway's afterwards.
func TestErrorTable(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../../broker/api/errors.go", nil, 0)
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
	rows := errorTable()
	if len(rows) != sentinels {
		t.Errorf("%d rows for %d sentinels", len(rows), sentinels)
	}
	for _, row := range rows {
		err := fmt.Errorf("operation: %w", row.from)
		got := adaptError(err)
		if !errors.Is(got, row.to) || !errors.Is(got, row.from) || got.Error() != err.Error() {
			t.Errorf("%v becomes %v", err, got)
		}
	}
	if adaptError(nil) != nil || adaptError(context.Canceled) != context.Canceled {
		t.Error("other errors change")
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"milena/cmd/internal/cli"
	"milena/registry/api"
	"milena/registry/client"
)

func importCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE | --from URL",
		Short: "Take over what another registry holds, with ids and versions",
		Long: "Take over what another registry holds: from an export, from a dump of a _schemas topic (JSON Lines\n" +
			"of keys and values), or from a live registry, which the importing one reads itself. FILE - is\n" +
			"standard input. Ids, versions, deletions, config and modes are kept. Importing the same again\n" +
			"changes nothing, so an import that was cut off is simply repeated. A line that does not fit what is\n" +
			"there is named and changes nothing. Only Milena's registries import.",
		Example: "  milena schema import backup.jsonl\n" +
			"  milena schema import backup.jsonl --dry-run\n" +
			"  milena schema import --from http://user:password@old-registry:8081",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeOneFile,
	}
	f := cmd.Flags()
	f.String("from", "", "URL of the registry to read")
	f.String("after", "", "with --from: go on after this subject, where an earlier import ended")
	f.Bool("overwrite", false, "let the import win over config, modes and deletions that are there")
	f.Bool("dry-run", false, "say what would happen, and do nothing")
	cmd.RunE = withSession(importAll)
	return cmd
}

// completeOneFile completes one argument with files.
func completeOneFile(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// importResult is the result of an import, for programs.
type importResult struct {
	Findings []api.ImportLine  `json:"findings"`
	Summary  api.ImportSummary `json:"summary"`
}

func importAll(ctx context.Context, s *session, args []string) error {
	f := s.cmd.Flags()
	from, _ := f.GetString("from")
	after, _ := f.GetString("after")
	if (from == "") == (len(args) == 0) {
		return cli.Unusable(errors.New("want one of FILE and --from URL"), "")
	}
	if s.settings.String("registry-context") != "" {
		return cli.Unusable(errors.New("--context does not go with import: names are taken as they are"), "")
	}
	if after != "" && from == "" {
		return cli.Unusable(errors.New("--after needs --from"), "")
	}
	result := importResult{Findings: []api.ImportLine{}}
	o := client.ImportOptions{Report: func(l api.ImportLine) {
		if s.out.JSON {
			result.Findings = append(result.Findings, l)
			return
		}
		s.note("%s", findingText(l))
	}}
	o.Overwrite, _ = f.GetBool("overwrite")
	o.DryRun, _ = f.GetBool("dry-run")
	var err error
	if from != "" {
		result.Summary, err = s.client.ImportFrom(ctx, api.ImportFrom{From: from, After: after}, o)
	} else {
		result.Summary, err = s.importFile(ctx, args[0], o)
	}
	if client.IsMissing(err) {
		return cli.Unusable(errors.New(s.registry()+" can't import"), "only Milena's registries do")
	}
	if err != nil {
		return err
	}
	if err := s.out.Value(result, summaryText(&result.Summary)); err != nil {
		return err
	}
	if !result.Summary.Complete {
		hint := "import the same again: what is there stays"
		if result.Summary.ResumeAfter != "" {
			hint = "go on with --after " + result.Summary.ResumeAfter
		}
		return cli.Unusable(fmt.Errorf("the import ended early: %s", result.Summary.Error), hint)
	}
	if result.Summary.Conflicts+result.Summary.Refused > 0 {
		return cli.Said()
	}
	return nil
}

// importFile sends a file, with progress.
func (s *session) importFile(ctx context.Context, path string, o client.ImportOptions) (api.ImportSummary, error) {
	in, size := s.cmd.InOrStdin(), int64(0)
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return api.ImportSummary{}, cli.Unusable(err, "")
		}
		defer func() { _ = file.Close() }() // it is only read
		if info, err := file.Stat(); err == nil {
			size = info.Size()
		}
		in = file
	}
	counted := &countingReader{r: in}
	stop := s.watch(func() string {
		n := counted.n.Load()
		if size > 0 {
			return fmt.Sprintf("importing: %s of %s (%d%%)", cli.Bytes(n), cli.Bytes(size), n*100/size)
		}
		return "importing: " + cli.Bytes(n)
	})
	defer stop()
	return s.client.Import(ctx, counted, o)
}

// watch tells how far something is until stop is called, which waits for the
// goroutine that it starts.
func (s *session) watch(text func() string) (stop func()) {
	progress := cli.NewProgress(s.notes)
	if !progress.Terminal {
		// Findings are written by the other goroutine; lines of both would mix.
		return func() {}
	}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(200 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				progress.Done()
				return
			case <-ticker.C:
				progress.Update(text)
			}
		}
	}()
	return func() { close(ended); <-done }
}

// countingReader counts what went through; n may be read at any time.
type countingReader struct {
	r io.Reader
	n atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

func findingText(l api.ImportLine) string {
	var b strings.Builder
	if l.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", l.Line)
	}
	fmt.Fprintf(&b, "%s: ", l.Outcome)
	if l.What != "" {
		fmt.Fprintf(&b, "%s: ", l.What)
	}
	b.WriteString(l.Message)
	if l.Code != 0 {
		fmt.Fprintf(&b, " (%d)", l.Code)
	}
	return b.String()
}

func summaryText(sum *api.ImportSummary) string {
	verb := "imported"
	if sum.DryRun {
		verb = "would import"
	}
	text := fmt.Sprintf("%s %d of %d lines, %d unchanged", verb, sum.Imported, sum.Lines, sum.Unchanged)
	for _, part := range []struct {
		n    int
		what string
	}{{sum.Conflicts, "in conflict"}, {sum.Refused, "refused"}, {sum.Warnings, "with warnings"}, {sum.Omitted, "findings not shown"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	return text
}

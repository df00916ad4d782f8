package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"milena/cmd/internal/cli"
	"milena/registry/client"
	"milena/registry/transfer"
)

func exportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write everything that a registry holds as JSON Lines",
		Long: "Write everything that a registry holds as JSON Lines: schemas with ids and versions, soft deleted\n" +
			"ones included, config, modes, contexts, associations and keys, in an order in which a registry can\n" +
			"take them. The file is complete or not there. From a registry other than Milena it is read subject\n" +
			"by subject, which takes longer and is no snapshot.",
		Example: "  milena schema export --file backup.jsonl\n" +
			"  milena schema export --prefix orders- --live-only > orders.jsonl\n" +
			"  milena schema export --registry https://other:8081 | milena schema import -",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	f := cmd.Flags()
	f.StringP("file", "f", "-", "file to write; - is standard output")
	f.String("prefix", "", "only subjects whose names begin so; :.ctx: is one context")
	f.Bool("live-only", false, "without soft deleted versions")
	cmd.RunE = withSession(exportAll)
	return cmd
}

// exported counts what was written, for programs.
type exported struct {
	File    string         `json:"file"`
	Lines   int            `json:"lines"`
	Bytes   int64          `json:"bytes"`
	Kinds   map[string]int `json:"kinds"`
	Skipped int            `json:"skipped"` // could not be read
}

func exportAll(ctx context.Context, s *session, _ []string) error {
	f := s.cmd.Flags()
	path, _ := f.GetString("file")
	q := client.ExportQuery{}
	q.Prefix, _ = f.GetString("prefix")
	q.LiveOnly, _ = f.GetBool("live-only")
	if path == "-" {
		sum := &exported{File: path, Kinds: map[string]int{}}
		if err := s.export(ctx, q, s.out.W, sum); err != nil {
			return err
		}
		s.note("%s", sum.text())
		return sum.complete()
	}
	sum := &exported{File: path, Kinds: map[string]int{}}
	err := replaceFile(path, func(w io.Writer) error { return s.export(ctx, q, w, sum) })
	if err != nil {
		return err
	}
	if err := s.out.Value(sum, sum.text()); err != nil {
		return err
	}
	return sum.complete()
}

// complete returns an error if something could not be read.
func (e *exported) complete() error {
	if e.Skipped > 0 {
		return cli.Refused(fmt.Errorf("%d things could not be read", e.Skipped), "")
	}
	return nil
}

func (e *exported) text() string {
	var parts []string
	for _, kind := range []string{"schema", "config", "mode", "context", "association", "kek", "dek"} {
		if n := e.Kinds[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, plural(n, kind)))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing"}
	}
	return "exported " + strings.Join(parts, ", ") + " (" + cli.Bytes(e.Bytes) + ")"
}

// replaceFile writes a file beside its place and moves it there when it is
// whole and on disk.
func replaceFile(path string, write func(io.Writer) error) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err // its path is not the one that was asked for
		}
		return cli.Unusable(fmt.Errorf("--file %s: %w", path, err), "")
	}
	defer func() {
		if err != nil {
			// What was begun is of no use to anybody.
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
		}
	}()
	if err := write(tmp); err != nil {
		return err
	}
	if err := errors.Join(tmp.Sync(), tmp.Chmod(0o644), tmp.Close()); err != nil {
		return cli.Unusable(fmt.Errorf("--file: %w", err), "")
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return cli.Unusable(fmt.Errorf("--file: %w", err), "")
	}
	return nil
}

// export writes a whole stream to w and counts it.
func (s *session) export(ctx context.Context, q client.ExportQuery, w io.Writer, sum *exported) error {
	progress := cli.NewProgress(s.notes)
	defer progress.Done()
	counted := &countingWriter{w: w}
	defer func() { sum.Bytes = counted.n }()
	update := func() string { return fmt.Sprintf("exporting: %d lines, %s", sum.Lines, cli.Bytes(counted.n)) }
	body, err := s.client.Export(ctx, q)
	if client.IsMissing(err) {
		return s.exportOrdinary(ctx, q, counted, sum, func() { progress.Update(update) })
	}
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // it was read, or is of no use
	// What goes through is read on the way, as only the last line tells that
	// nothing is missing.
	for item, err := range transfer.Read(io.TeeReader(body, counted)) {
		if err != nil {
			return s.cutOff(counted, err)
		}
		sum.count(&item.Line)
		progress.Update(update)
	}
	return counted.err
}

// cutOff tells a stream that ended early from a file that could not be written.
func (s *session) cutOff(w *countingWriter, err error) error {
	if w.err != nil {
		return cli.Unusable(fmt.Errorf("write export: %w", w.err), "")
	}
	return cli.Unusable(fmt.Errorf("%s: %w", s.registry(), err), "try again")
}

func (e *exported) count(l *transfer.Line) {
	e.Lines++
	for kind, there := range map[string]bool{
		"schema": l.Schema != nil, "config": l.Config != nil, "mode": l.Mode != nil, "context": l.Context != nil,
		"association": l.Association != nil, "kek": l.Kek != nil, "dek": l.Dek != nil,
	} {
		if there {
			e.Kinds[kind]++
		}
	}
}

// exportOrdinary reads a registry that has no export of its own.
func (s *session) exportOrdinary(ctx context.Context, q client.ExportQuery, w *countingWriter, sum *exported, update func()) error {
	if q.Prefix != "" || q.LiveOnly || s.settings.String("registry-context") != "" {
		return cli.Unusable(errors.New(s.registry()+" can't export a part"), "leave --prefix, --live-only and --context out: only Milena's registries take them")
	}
	first, _, _ := strings.Cut(s.settings.String("registry-url"), ",")
	transport, err := s.transport()
	if err != nil {
		return err
	}
	remote, err := transfer.NewRemote(transfer.RemoteOptions{URL: first, Transport: transport, Timeout: s.settings.Duration("registry-timeout")})
	if err != nil {
		return cli.Unusable(err, "")
	}
	defer func() { _ = remote.Close() }() // idle connections only
	var failed error
	err = transfer.Write(w, time.Now().UnixMilli(), s.readable(remote.Lines(ctx), sum, update, &failed))
	if failed != nil {
		return cli.Unusable(fmt.Errorf("%s: %w", s.registry(), failed), "try again")
	}
	if err != nil {
		return cli.Unusable(err, "")
	}
	return nil
}

// readable yields the lines of items that could be read and notes the others.
// An error ends it.
func (s *session) readable(items iter.Seq2[transfer.Item, error], sum *exported, update func(), failed *error) iter.Seq[transfer.Line] {
	return func(yield func(transfer.Line) bool) {
		for item, err := range items {
			if err != nil {
				*failed = err
				return
			}
			if item.Err != nil {
				s.note("left out: %v", item.Err)
				sum.Skipped++
				continue
			}
			sum.count(&item.Line)
			update()
			if !yield(item.Line) {
				return
			}
		}
	}
}

// countingWriter counts what went through and keeps the first error, which a
// TeeReader takes for one of the reader.
type countingWriter struct {
	w   io.Writer
	n   int64
	err error
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}

// transport returns what sends requests with the session's credentials that are
// in no URL.
func (s *session) transport() (http.RoundTripper, error) {
	config, err := tlsConfig(s.settings)
	if err != nil {
		return nil, err
	}
	return &credentials{
		next:  &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, MaxIdleConnsPerHost: 16, ForceAttemptHTTP2: true},
		user:  s.settings.String("registry-user"),
		word:  s.settings.String("registry-password"),
		token: s.settings.String("registry-token"),
	}, nil
}

// credentials adds them to requests without any.
type credentials struct {
	next              http.RoundTripper
	user, word, token string
}

// RoundTrip sends a copy of the request, as a RoundTripper must not change it.
func (c *credentials) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Authorization") != "" || c.user == "" && c.token == "" {
		return c.next.RoundTrip(req)
	}
	req = req.Clone(req.Context())
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	} else {
		req.SetBasicAuth(c.user, c.word)
	}
	return c.next.RoundTrip(req)
}

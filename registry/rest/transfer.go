package rest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/transfer"
)

const (
	findingsMax     = 10_000   // findings in the answer to an import
	importFromBytes = 64 << 10 // body of an import from a live registry
)

// export answers GET /milena/v1/export.
func (s *Server) export(ctx context.Context, r *request) (answer, error) {
	lines, err := s.registry.Export(ctx, registry.ExportQuery{
		Prefix: r.query.text("subjectPrefix"), LiveOnly: r.query.flag("liveOnly"),
	})
	if err != nil {
		return answer{}, err
	}
	asTopic := strings.EqualFold(r.query.text("format"), "topic")
	return answer{}, s.writeStream(ctx, r.echo, func(w io.Writer) error {
		if asTopic {
			return transfer.WriteTopic(w, lines)
		}
		buffered := bufio.NewWriterSize(w, streamBufferBytes)
		if err := transfer.Write(buffered, s.registry.Now().UnixMilli(), lines); err != nil {
			return err
		}
		return buffered.Flush()
	})
}

// importAll answers POST /milena/v1/import: a stream, a dump of a topic, or
// the address of a live registry.
func (s *Server) importAll(ctx context.Context, r *request) (answer, error) {
	release, err := s.oneImport()
	if err != nil {
		return answer{}, err
	}
	defer release()
	m := s.moving(r.echo)
	first, body := transfer.Sniff(&streamReader{m, r.echo.Request().Body})
	source := transfer.ReadAny(body)
	if first == "from" {
		remote, err := s.remote(body)
		if err != nil {
			return answer{}, err
		}
		defer func() { _ = remote.Close() }() // idle connections only
		source = remote.Lines(ctx)
	}
	rep := report{dryRun: r.query.flag("dryRun")}
	sum, err := s.registry.Import(ctx, attended(source, m), registry.ImportOptions{
		Overwrite: r.query.flag("overwrite"), DryRun: rep.dryRun, Report: rep.add,
	})
	switch {
	case errors.Is(err, transfer.ErrHeader):
		return answer{}, errcode.BadRequest.Text(err.Error())
	case ctx.Err() != nil:
		return answer{}, ctx.Err()
	}
	m.again()
	return rep.answer(sum, err)
}

// attended yields what source yields, and keeps the connection open meanwhile.
func attended(source iter.Seq2[transfer.Item, error], m *moving) iter.Seq2[transfer.Item, error] {
	return func(yield func(transfer.Item, error) bool) {
		for item, err := range source {
			m.again()
			if !yield(item, err) {
				return
			}
		}
	}
}

// remote reads where to import from.
func (s *Server) remote(body io.Reader) (*transfer.Remote, error) {
	if s.opt.NoRemoteImport {
		return nil, errcode.Forbidden.Text("Imports from other registries are switched off")
	}
	text, err := io.ReadAll(io.LimitReader(body, importFromBytes+1))
	if err != nil {
		return nil, errcode.BadRequest.Text("Request body could not be read").Because(err)
	}
	if len(text) > importFromBytes {
		return nil, errcode.BadRequest.Text("Invalid address of a registry")
	}
	var from api.ImportFrom
	if err := json.Unmarshal(text, &from); err != nil {
		return nil, errcode.BadRequest.Text("Invalid address of a registry").Because(err)
	}
	remote, err := transfer.NewRemote(transfer.RemoteOptions{URL: from.From, After: from.After})
	if err != nil {
		return nil, errcode.BadRequest.Text(err.Error())
	}
	return remote, nil
}

// report collects the findings of an import, as lines of its answer.
type report struct {
	dryRun  bool
	lines   []byte
	count   int
	omitted int
	err     error
}

func (p *report) add(f registry.ImportFinding) {
	if p.count == findingsMax {
		p.omitted++
		return
	}
	p.count++
	p.put(api.ImportLine{Line: f.Line, Outcome: string(f.Outcome), What: f.What, Code: f.Code, Message: f.Message})
}

func (p *report) put(l api.ImportLine) {
	text, err := api.Marshal(l)
	if err != nil {
		p.err = fmt.Errorf("encode finding: %w", err)
		return
	}
	p.lines = append(append(p.lines, text...), '\n')
}

func (p *report) answer(sum registry.ImportSummary, err error) (answer, error) {
	s := api.ImportSummary{
		Lines: sum.Lines, Imported: sum.Imported, Unchanged: sum.Unchanged, Conflicts: sum.Conflicts, Refused: sum.Refused,
		Warnings: sum.Warnings, Omitted: p.omitted, Complete: err == nil, DryRun: p.dryRun, ResumeAfter: sum.ResumeAfter,
	}
	if err != nil {
		s.Error = err.Error()
		var e *errcode.Error
		if errors.As(err, &e) && errors.Is(e, errcode.Internal) {
			return answer{}, err
		}
	}
	p.put(api.ImportLine{Summary: &s})
	return answer{status: http.StatusOK, body: p.lines}, p.err
}

package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"milena/registry/api"
	"milena/registry/errcode"
	"milena/serde/schema"
)

// The methods of this file ask for what only Milena has, under /milena/v1.
// Other registries answer errcode.NotFound.

// extensions is where Milena's own routes are.
const extensions = "/milena/v1"

// errorBytesMax bounds the body of an answer to a stream that is not a success.
const errorBytesMax = 1 << 20

// qualify returns a subject as it is called outside of the Client's context.
func (c *Client) qualify(subject string) string {
	if c.prefix == "" || strings.HasPrefix(subject, ":.") {
		return subject
	}
	return ":" + c.context() + ":" + subject
}

// TryRegister says what Register would do, and does nothing. A schema that
// would be refused as incompatible is no error here.
func (c *Client) TryRegister(ctx context.Context, subject string, req api.RegisterRequest, o RegisterOptions) (api.DryRunResponse, error) {
	v, err := change[api.DryRunResponse](ctx, c, &request{
		method: http.MethodPost, body: req,
		path: params{}.flag("dryRun", true).flag("normalize", o.Normalize).flag("force", o.Force).text("format", o.Format).
			on(extensions + "/subjects/" + escape(c.qualify(subject)) + "/versions"),
	})
	return v, failed(err, "try to register schema under %q", subject)
}

// SearchQuery says which versions a search finds; what is empty does not count,
// and what is given must all hold. Without a prefix it is of the Client's
// context, or of all.
type SearchQuery struct {
	Field      string
	Type       string
	Tag        string
	Property   string
	Text       string
	SchemaType string
	Prefix     string
	Deleted    bool // soft deleted ones too
	LatestOnly bool
	After      string // Next of the page before
	Limit      int    // 0: the registry's own
}

// Search returns a page of the versions that a query finds.
func (c *Client) Search(ctx context.Context, q SearchQuery) (api.SearchResponse, error) {
	p := params{}.text("field", q.Field).text("type", q.Type).text("tag", q.Tag).text("property", q.Property).
		text("text", q.Text).text("schemaType", q.SchemaType).text("subjectPrefix", c.qualifyPrefix(q.Prefix)).
		flag("deleted", q.Deleted).flag("latestOnly", q.LatestOnly).text("after", q.After)
	if q.Limit > 0 {
		p.text("limit", strconv.Itoa(q.Limit))
	}
	v, err := get[api.SearchResponse](ctx, c, p.on(extensions+"/search"))
	return v, failed(err, "search schemas")
}

// qualifyPrefix returns a prefix as it is outside of the Client's context.
func (c *Client) qualifyPrefix(prefix string) string {
	if c.prefix == "" {
		return prefix
	}
	return c.qualify(prefix)
}

// ExportQuery says what an export holds: subjects with a prefix, without one
// everything, or the Client's context.
type ExportQuery struct {
	Prefix   string
	LiveOnly bool // without soft deleted versions
}

// Export returns the stream of an export, in the form that package transfer
// describes. It ends with a line that says so; a stream without that line was
// cut off. The caller closes it.
func (c *Client) Export(ctx context.Context, q ExportQuery) (io.ReadCloser, error) {
	p := params{}.text("subjectPrefix", c.qualifyPrefix(q.Prefix)).flag("liveOnly", q.LiveOnly)
	resp, err := c.stream(ctx, http.MethodGet, p.on(extensions+"/export"), http.NoBody, "")
	if err != nil {
		return nil, failed(err, "export")
	}
	return resp.Body, nil
}

// ImportOptions say how an import deals with what is there already.
type ImportOptions struct {
	Overwrite bool // lines win over config, modes and deletions that are there
	DryRun    bool // decide about every line and write nothing
	// Report gets what there is to say about a line; may be nil.
	Report func(api.ImportLine)
}

func (o *ImportOptions) params() params {
	return params{}.flag("overwrite", o.Overwrite).flag("dryRun", o.DryRun)
}

// ErrImportCut says that the answer to an import ended before its summary.
var ErrImportCut = errors.New("the registry's answer to the import was cut off")

// Import sends a stream to import, or a dump of a _schemas topic, and returns
// what became of it. An import is not repeated of its own accord; importing the
// same again changes nothing.
func (c *Client) Import(ctx context.Context, from io.Reader, o ImportOptions) (api.ImportSummary, error) {
	sum, err := c.imported(ctx, from, o)
	return sum, failed(err, "import")
}

// ImportFrom lets the registry read another one.
func (c *Client) ImportFrom(ctx context.Context, from api.ImportFrom, o ImportOptions) (api.ImportSummary, error) {
	body, err := api.Marshal(from)
	if err != nil {
		return api.ImportSummary{}, err
	}
	sum, err := c.imported(ctx, bytes.NewReader(body), o)
	return sum, failed(err, "import from another registry")
}

func (c *Client) imported(ctx context.Context, from io.Reader, o ImportOptions) (api.ImportSummary, error) {
	var none api.ImportSummary
	resp, err := c.stream(ctx, http.MethodPost, o.params().on(extensions+"/import"), from, "application/x-ndjson")
	if err != nil {
		return none, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or is of no use
	c.Flush()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, errorBytesMax)
	for lines.Scan() {
		var l api.ImportLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return none, fmt.Errorf("%w: answer can't be read: %w", schema.ErrUnavailable, err)
		}
		if l.Summary != nil {
			return *l.Summary, nil
		}
		if o.Report != nil {
			o.Report(l)
		}
	}
	return none, fmt.Errorf("%w: %w", schema.ErrUnavailable, errors.Join(ErrImportCut, lines.Err()))
}

// stream sends one request without a limit on its time, to the URL that
// answered last, or the next one if there is nobody. An answer other than a
// success is an *errcode.Error.
func (c *Client) stream(ctx context.Context, method, path string, body io.Reader, contentType string) (*http.Response, error) {
	first := int(c.current.Load())
	var last error
	for i := range c.bases {
		index := (first + i) % len(c.bases)
		start := c.opt.Clock()
		resp, err := c.streamOnce(ctx, index, method, path, body, contentType)
		status := 0
		if resp != nil {
			status = resp.StatusCode
		}
		end := c.opt.Clock()
		c.observe(index, status, end, end.Sub(start), err)
		if err == nil || !passes(err) {
			c.current.Store(int64(index))
			return resp, err
		}
		if last = err; !untouched(err) {
			break // some of the body may be gone
		}
	}
	return nil, fmt.Errorf("%w: %w", schema.ErrUnavailable, last)
}

func (c *Client) streamOnce(ctx context.Context, index int, method, path string, body io.Reader, contentType string) (*http.Response, error) {
	// A request may close its body even if it was never connected.
	req, err := c.newRequest(ctx, index, method, path, io.NopCloser(body))
	if err != nil {
		return nil, err
	}
	if body == http.NoBody {
		req.Body = http.NoBody
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask registry: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, errorBytesMax))
	_ = resp.Body.Close()
	if err != nil {
		text = nil // the status says enough
	}
	return nil, answerError(resp.StatusCode, text)
}

// IsMissing reports whether an error says that the registry has no such route,
// as registries other than Milena say of /milena/v1.
func IsMissing(err error) bool {
	return errors.Is(err, errcode.NotFound) || errors.Is(err, errcode.MethodNotAllowed)
}

package client

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"milena/broker/api"
	"milena/broker/brokerpb"
)

// TestReasons: every reason of the protocol but the empty one is an error of
// its own.
func TestReasons(t *testing.T) {
	seen := make(map[error]bool)
	for number, name := range brokerpb.Reason_name {
		err := sentinel(brokerpb.Reason(number))
		if number == 0 {
			if err != nil {
				t.Errorf("%s is %v", name, err)
			}
			continue
		}
		if err == nil || seen[err] {
			t.Errorf("%s is %v", name, err)
		}
		seen[err] = true
		if got := failureError(&brokerpb.Failure{Reason: brokerpb.Reason(number), Message: "text"}); !errors.Is(got, err) || got.Error() != "text" {
			t.Errorf("failure %s is %v", name, got)
		}
	}
	if err := failureError(&brokerpb.Failure{Reason: 99}); !errors.Is(err, api.ErrUnavailable) {
		t.Errorf("an unknown reason is %v", err)
	}
}

func TestCallErrors(t *testing.T) {
	for code, want := range map[codes.Code]error{
		codes.Unavailable: api.ErrUnavailable, codes.Internal: api.ErrUnavailable, codes.Unimplemented: api.ErrUnavailable,
		codes.Canceled: api.ErrUnavailable, codes.ResourceExhausted: api.ErrTooLarge, codes.InvalidArgument: api.ErrInvalid,
		codes.DeadlineExceeded: context.DeadlineExceeded,
	} {
		if err := callError(t.Context(), "operation", status.Error(code, "x")); !errors.Is(err, want) {
			t.Errorf("%v is %v", code, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := callError(ctx, "operation", status.Error(codes.Unavailable, "x")); !errors.Is(err, context.Canceled) || errors.Is(err, api.ErrUnavailable) {
		t.Errorf("a cancelled call is %v", err)
	}
}

// TestLimits: what would end the stream is refused here, the rest is sent.
func TestLimits(t *testing.T) {
	l := limits{batch: 1000, schema: 100, call: 3000}
	batch := func(n int) api.Append { return api.Append{Batch: make([]byte, n)} }
	large := batch(10)
	large.Schemas = []api.Schema{{Encoded: make([]byte, 101)}}
	out, send := l.check([]api.Append{batch(1000), batch(1001), large, batch(1000), batch(900), batch(100)})
	if len(send) != 3 || out == nil {
		t.Fatalf("%d batches are sent", len(send))
	}
	merged := merge(out, []api.Appended{{BaseOffset: 1}, {BaseOffset: 2}, {BaseOffset: 3}})
	text := ""
	for _, a := range merged {
		if errors.Is(a.Err, api.ErrTooLarge) {
			text += "- "
			continue
		}
		text += string(rune('0'+a.BaseOffset)) + " "
	}
	if text != "1 - - 2 - 3 " {
		t.Fatalf("outcomes %s", text)
	}
	if out, send := l.check([]api.Append{batch(1)}); out != nil || len(send) != 1 {
		t.Fatalf("%v %v", out, send)
	}
}

// capture is a publish stream that keeps what is sent.
type capture struct {
	grpc.BidiStreamingClient[brokerpb.PublishRequest, brokerpb.PublishReply]
	sent []*brokerpb.PublishRequest
}

func (c *capture) Send(m *brokerpb.PublishRequest) error {
	c.sent = append(c.sent, &brokerpb.PublishRequest{Call: m.Call, Parts: m.Parts, Last: m.Last, Durability: m.Durability})
	return nil
}

func (c *capture) Context() context.Context     { return context.Background() }
func (c *capture) Header() (metadata.MD, error) { return nil, nil }

// TestPieces: a call is cut into messages that stay near the piece size, and
// comes to the same bytes.
func TestPieces(t *testing.T) {
	st := &capture{}
	l := &link{publish: st, calls: make(map[uint64]chan reply)}
	schema := api.Schema{Key: api.Key{1}, Encoded: []byte(strings.Repeat("s", 250))}
	calls := []api.Append{
		{Batch: []byte(strings.Repeat("a", 1000)), Schemas: []api.Schema{schema}},
		{Batch: []byte("b")}, {Batch: []byte{}}, {Batch: []byte(strings.Repeat("c", 100))},
	}
	if _, err := l.start(api.Written, calls, 100); err != nil {
		t.Fatal(err)
	}
	text := ""
	for i, m := range st.sent {
		if m.Call != 1 || m.Durability != brokerpb.Durability_WRITTEN || m.Last != (i == len(st.sent)-1) {
			t.Fatalf("message %d is %v", i, m)
		}
		size := 0
		for _, p := range m.Parts {
			data := p.GetMore()
			switch {
			case p.GetBatch() != nil:
				data = p.GetBatch().Data
				text += "|"
			case p.GetSchema() != nil:
				data = p.GetSchema().Data
				text += "+"
			}
			text += string(data)
			size += len(data)
		}
		if size > 200 {
			t.Fatalf("message %d has %d bytes", i, size)
		}
	}
	want := "|" + strings.Repeat("a", 1000) + "+" + strings.Repeat("s", 250) + "|b||" + strings.Repeat("c", 100)
	if text != want {
		t.Fatalf("sent %s", text)
	}
	// The link ends: all calls are answered, new ones refused.
	gone := errors.New("gone")
	ch, err := l.start(api.Synced, calls[1:2], 100)
	if err != nil {
		t.Fatal(err)
	}
	l.fail(gone)
	if r := <-ch; !errors.Is(r.err, gone) {
		t.Fatalf("answer %v", r.err)
	}
	if _, err := l.start(api.Synced, calls[1:2], 100); !errors.Is(err, gone) {
		t.Fatalf("start after the end: %v", err)
	}
}

// TestFetchAnswers: an answer that isn't one is an error.
func TestFetchAnswers(t *testing.T) {
	result := &brokerpb.FetchPart{Part: &brokerpb.FetchPart_Result{Result: &brokerpb.FetchResult{}}}
	batch := func(size int64, data string) *brokerpb.FetchPart {
		return &brokerpb.FetchPart{Part: &brokerpb.FetchPart_Batch{Batch: &brokerpb.FetchBatch{Size: size, Data: []byte(data)}}}
	}
	more := func(data string) *brokerpb.FetchPart {
		return &brokerpb.FetchPart{Part: &brokerpb.FetchPart_More{More: []byte(data)}}
	}
	for name, parts := range map[string][]*brokerpb.FetchPart{
		"batch first":       {batch(1, "x")},
		"more first":        {more("x")},
		"many results":      {result, result, result},
		"more than claimed": {result, batch(1, "xy")},
		"too much":          {result, batch(2, "x"), more("yz")},
		"result inside":     {result, batch(2, "x"), result},
		"batch inside":      {result, batch(2, "x"), batch(1, "y")},
	} {
		a := fetchAssembly{results: make([]api.ReadResult, 0, 2)}
		if err := a.add(&brokerpb.FetchReply{Parts: parts}); !errors.Is(err, api.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	a := fetchAssembly{results: make([]api.ReadResult, 0, 2)}
	if err := a.add(&brokerpb.FetchReply{Parts: []*brokerpb.FetchPart{result, batch(3, "x"), more("yz"), batch(1, "q"), result}}); err != nil {
		t.Fatal(err)
	}
	if len(a.results) != 2 || string(a.results[0].Batches[0].Bytes) != "xyz" || string(a.results[0].Batches[1].Bytes) != "q" || a.rest != 0 {
		t.Fatalf("%+v", a.results)
	}
}

package gateway_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// client is a raw connection to a gateway.
type client struct {
	t    *testing.T
	conn net.Conn
}

func dial(t *testing.T, addr string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	// No test waits that long; a gateway that doesn't answer must not hang it.
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatalf("set deadline: %v", err)
	}
	return &client{t, conn}
}

func (c *client) write(b []byte) {
	c.t.Helper()
	if _, err := c.conn.Write(b); err != nil {
		c.t.Fatalf("write: %v", err)
	}
}

// frame reads one answer without its length.
func (c *client) frame() []byte {
	c.t.Helper()
	var length [4]byte
	if _, err := io.ReadFull(c.conn, length[:]); err != nil {
		c.t.Fatalf("read answer: %v", err)
	}
	b := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(c.conn, b); err != nil {
		c.t.Fatalf("read answer: %v", err)
	}
	return b
}

// closed wants the gateway to close the connection without a further answer.
func (c *client) closed() {
	c.t.Helper()
	n, err := c.conn.Read(make([]byte, 1))
	if n > 0 || errors.Is(err, net.ErrClosed) || isTimeout(err) || err == nil {
		c.t.Errorf("connection isn't closed: %d bytes, %v", n, err)
	}
	// The gateway waits a while for us to do the same.
	_ = c.conn.Close()
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// answer reads the answer to a request of the version.
func (c *client) answer(correlation int32, req kmsg.Request) kmsg.Response {
	c.t.Helper()
	b := c.frame()
	if got := int32(binary.BigEndian.Uint32(b)); got != correlation {
		c.t.Fatalf("correlation id %d, want %d", got, correlation)
	}
	resp := req.ResponseKind()
	b = b[4:]
	if resp.IsFlexible() && resp.Key() != 18 {
		if b[0] != 0 {
			c.t.Fatalf("header tags: % x", b[:1])
		}
		b = b[1:]
	}
	if err := resp.ReadFrom(b); err != nil {
		c.t.Fatalf("%T: %v", resp, err)
	}
	return resp
}

// ask sends a request and reads its answer.
func (c *client) ask(version int16, req kmsg.Request) kmsg.Response {
	c.t.Helper()
	c.write(request(version, 7, req))
	return c.answer(7, req)
}

// request encodes a request frame.
func request(version int16, correlation int32, req kmsg.Request) []byte {
	req.SetVersion(version)
	b := make([]byte, 4, 64)
	b = binary.BigEndian.AppendUint16(b, uint16(req.Key()))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	b = binary.BigEndian.AppendUint32(b, uint32(correlation))
	b = append(b, 0, 4)
	b = append(b, "test"...)
	if req.IsFlexible() {
		b = append(b, 0)
	}
	b = req.AppendTo(b)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

func apiVersions() *kmsg.ApiVersionsRequest {
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "test", "1.0"
	return req
}

func metadata(create bool, names ...string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = create
	req.Topics = []kmsg.MetadataRequestTopic{}
	for _, n := range names {
		rt := kmsg.NewMetadataRequestTopic()
		rt.Topic = kmsg.StringPtr(n)
		req.Topics = append(req.Topics, rt)
	}
	return req
}

// pipes is a net.Listener of connections in memory, which work in a synctest
// bubble.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) listen(string, string) (net.Listener, error) { return p, nil }

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9092} }

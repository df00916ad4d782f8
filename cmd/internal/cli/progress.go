package cli

import (
	"fmt"
	"io"
	"os"
	"time"
)

const (
	terminalInterval = 200 * time.Millisecond
	logInterval      = 10 * time.Second
)

// Progress tells people how far long work is: on one line that changes, if W is
// a terminal, else on a new line now and then. Work that is done before the
// first of them is due says nothing.
type Progress struct {
	W        io.Writer
	Terminal bool
	Clock    func() time.Time // time.Now if nil

	next  time.Time
	drawn bool
}

// NewProgress returns a Progress on w.
func NewProgress(w io.Writer) *Progress { return &Progress{W: w, Terminal: IsTerminal(w)} }

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Update tells how far the work is, if it is time to. It is cheap otherwise and
// may be called for every piece of work.
func (p *Progress) Update(text func() string) {
	clock := p.Clock
	if clock == nil {
		clock = time.Now
	}
	now, interval := clock(), logInterval
	if p.Terminal {
		interval = terminalInterval
	}
	if p.next.IsZero() {
		p.next = now.Add(interval)
	}
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(interval)
	// That nobody can read it is no reason to stop.
	if p.Terminal {
		_, _ = fmt.Fprintf(p.W, "\r%s\x1b[K", text())
		p.drawn = true
		return
	}
	_, _ = fmt.Fprintln(p.W, text())
}

// Done takes the line that changes away.
func (p *Progress) Done() {
	if p.drawn {
		_, _ = io.WriteString(p.W, "\r\x1b[K")
		p.drawn = false
	}
}

// Bytes writes a number of bytes for people.
func Bytes(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}

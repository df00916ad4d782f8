package registry_test

import (
	"fmt"
	"slices"
	"strings"
)

// stressOp is one request to one subject and what came of it.
type stressOp struct {
	kind      string
	text      int    // of register and lookup, one of stressTexts
	version   int    // of delete version, 0 is the latest
	value     string // level or mode to set
	flag      bool   // permanent, or deleted ones too
	outcome   string
	unknown   bool // nobody knows whether it happened
	call, end int64
}

func (o *stressOp) String() string {
	return fmt.Sprintf("[%d-%d] %s text %d version %d %s %t: %s", o.call, o.end, o.kind, o.text, o.version, o.value, o.flag, o.outcome)
}

// stressSubject is the model of a subject, written as simply as can be.
type stressSubject struct {
	versions    []stressVersion
	level, mode string // own ones
}

type stressVersion struct {
	number, text int
	deleted      bool
}

const stressIncompatible = 5 // the text that no other one is compatible with

func (m stressSubject) live() []stressVersion {
	return slices.DeleteFunc(slices.Clone(m.versions), func(v stressVersion) bool { return v.deleted })
}

func numbers(versions []stressVersion) string {
	var list []int
	for _, v := range versions {
		list = append(list, v.number)
	}
	return fmt.Sprint(list)
}

// newest returns the number of the newest version with a text, 0 if none.
func newest(versions []stressVersion, text int) int {
	for _, v := range slices.Backward(versions) {
		if v.text == text {
			return v.number
		}
	}
	return 0
}

// step returns the model after a request and what the request answers.
func (m stressSubject) step(o *stressOp) (stressSubject, string) {
	m.versions = slices.Clone(m.versions)
	live := m.live()
	switch o.kind {
	case "register":
		return m.register(o.text, live)
	case "lookup":
		list := live
		if o.flag {
			list = m.versions
		}
		switch n := newest(list, o.text); {
		case n > 0:
			return m, fmt.Sprint(n)
		case len(list) == 0:
			return m, "40401"
		default:
			return m, "40403"
		}
	case "versions":
		list := live
		if o.flag {
			list = m.versions
		}
		if len(list) == 0 {
			return m, "40401"
		}
		return m, numbers(list)
	case "delete version":
		return m.deleteVersion(o, live)
	case "delete subject":
		return m.deleteSubject(o.flag, live)
	default:
		return m.settings(o)
	}
}

func (m stressSubject) register(text int, live []stressVersion) (stressSubject, string) {
	if n := newest(live, text); n > 0 {
		return m, fmt.Sprint(n)
	}
	if m.mode == "READONLY" {
		return m, "42205"
	}
	against := live
	switch {
	case m.level == "NONE":
		against = nil
	case m.level != "BACKWARD_TRANSITIVE" && len(live) > 0:
		against = live[len(live)-1:]
	}
	for _, old := range against {
		if (old.text == stressIncompatible) != (text == stressIncompatible) {
			return m, "40901"
		}
	}
	next := 1
	if len(m.versions) > 0 {
		next = m.versions[len(m.versions)-1].number + 1
	}
	// It takes the place of soft deleted versions with its id.
	m.versions = slices.DeleteFunc(m.versions, func(v stressVersion) bool { return v.deleted && v.text == text })
	m.versions = append(m.versions, stressVersion{number: next, text: text})
	return m, fmt.Sprint(next)
}

func (m stressSubject) deleteVersion(o *stressOp, live []stressVersion) (stressSubject, string) {
	at := slices.IndexFunc(m.versions, func(v stressVersion) bool { return v.number == o.version })
	if o.version == 0 && len(live) > 0 {
		at = slices.Index(m.versions, live[len(live)-1])
	}
	switch {
	case len(m.versions) == 0:
		return m, "40401"
	case at < 0:
		return m, "40402"
	case !o.flag && m.versions[at].deleted:
		return m, "40406"
	case m.mode == "READONLY":
		return m, "42205"
	case o.flag && !m.versions[at].deleted:
		return m, "40407"
	}
	answer := fmt.Sprint(m.versions[at].number)
	if !o.flag {
		m.versions[at].deleted = true
		return m, answer
	}
	if m.versions = slices.Delete(m.versions, at, at+1); len(m.versions) == 0 {
		m.level, m.mode = "", ""
	}
	return m, answer
}

func (m stressSubject) deleteSubject(permanent bool, live []stressVersion) (stressSubject, string) {
	switch {
	case len(m.versions) == 0:
		return m, "40401"
	case !permanent && len(live) == 0:
		return m, "40404"
	case m.mode == "READONLY":
		return m, "42205"
	case permanent && len(live) > 0:
		return m, "40405"
	case permanent:
		return stressSubject{}, numbers(m.versions)
	}
	for i := range m.versions {
		m.versions[i].deleted = true
	}
	return m, numbers(live)
}

func (m stressSubject) settings(o *stressOp) (stressSubject, string) {
	own := &m.level
	if strings.HasSuffix(o.kind, "mode") {
		own = &m.mode
	}
	old := *own
	remove := strings.HasPrefix(o.kind, "delete")
	switch {
	case remove && old == "":
		return m, "40401"
	case own == &m.level && m.mode == "READONLY":
		return m, "42205"
	case remove:
		*own = ""
		return m, old
	default:
		*own = o.value
		return m, "ok"
	}
}

// key is what the model is and which requests are done, for comparison.
func (m stressSubject) key(done []bool) string {
	b := make([]byte, 0, len(done)+3*len(m.versions)+32)
	for _, d := range done {
		b = append(b, flagByte(d))
	}
	for _, v := range m.versions {
		b = append(b, byte(v.number), byte(v.number>>8), byte(v.text), flagByte(v.deleted))
	}
	return string(b) + m.level + "/" + m.mode
}

func flagByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// linearizable reports whether the requests of a history, some of them at the
// same time, can have happened one after the other, each between its call and
// its end, so that the model gives every answer. It is the search of Wing and
// Gong (1993), remembering where it has been.
func linearizable(start stressSubject, history []*stressOp) bool {
	slices.SortFunc(history, func(a, b *stressOp) int { return int(a.call - b.call) })
	done := make([]bool, len(history))
	been := map[string]bool{}
	var search func(m stressSubject, left int) bool
	search = func(m stressSubject, left int) bool {
		if left == 0 {
			return true
		}
		key := m.key(done)
		if been[key] {
			return false
		}
		been[key] = true
		first := int64(1) << 62 // whatever was called after this end comes later
		for i, o := range history {
			if !done[i] && !o.unknown {
				first = min(first, o.end)
			}
		}
		for i, o := range history {
			if o.call > first {
				break
			}
			if done[i] {
				continue
			}
			next, answer := m.step(o)
			if !o.unknown && answer != o.outcome || o.unknown && next.key(nil) == m.key(nil) {
				continue // not this answer, or as if it had not happened
			}
			done[i] = true
			rest := left
			if !o.unknown {
				rest--
			}
			if search(next, rest) {
				return true
			}
			done[i] = false
		}
		return false
	}
	known := 0
	for _, o := range history {
		if !o.unknown {
			known++
		}
	}
	return search(start, known)
}

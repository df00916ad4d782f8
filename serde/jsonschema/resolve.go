package jsonschema

import "strings"

// Why a reference leads nowhere.
const (
	leadsOut     = "leads to no registered reference, and nothing is fetched"
	leadsNowhere = "leads to nothing in its text"
)

// lookup is what identifiers in one text lead to.
type lookup struct {
	ids     map[string]*Value // as written, in the old drafts; by address in the modern ones
	anchors map[string]scoped // by address and name, in the modern drafts
	inside  map[string]scoped // resources by address, in the modern drafts
}

// scoped is a schema with the resource that it stands in.
type scoped struct {
	scope scope
	value *Value
}

// addressBytesMax bounds the bytes of all addresses that are made while one
// schema is loaded: a long one around many identifiers would come to gigabytes.
const addressBytesMax = 64 << 20

// resolve returns ref as seen from the address around it, and counts what that
// takes. Beyond the bound it fails, and returns ref.
func (l *loader) resolve(s scope, ref string) string {
	if !l.spend(s, len(s.base)+len(ref)) {
		return ref
	}
	return resolve(s.base, ref)
}

// spend counts bytes of addresses and reports whether there may be so many.
func (l *loader) spend(s scope, n int) bool {
	if l.addressBytes += n; l.addressBytes > addressBytesMax {
		l.fail(s, s.doc.root, "the addresses of all subschemas take more than %d bytes together", addressBytesMax)
		return false
	}
	return true
}

// oldTarget finds what a reference of the drafts 4, 6 and 7 leads to, or says
// why nothing. Identifiers count as they are written; a pointer without address
// starts at the root of the text whatever identifiers stand around it; a name
// that no identifier has is the root.
func (l *loader) oldTarget(s scope, ref string) (target, string) {
	full := l.resolve(s, ref)
	if s.doc.found == nil {
		s.doc.found = &lookup{ids: map[string]*Value{}}
		s.doc.found.byText(s.doc.root, s.doc.draft.idKey())
	}
	if v := s.doc.found.ids[full]; v != nil {
		return target{scope: s, value: v, path: "/" + pointerEscapes.Replace(ref)}, ""
	}
	address, fragment := cutFragment(full)
	doc := s.doc
	if !strings.HasPrefix(ref, "#") {
		if doc = l.docs[address]; doc == nil {
			if doc = l.meta(address, s.doc.draft); doc == nil {
				return target{}, leadsOut
			}
		}
	}
	at := doc.scope()
	if doc == s.doc {
		at.base = s.base
	}
	if !strings.HasPrefix(fragment, "/") {
		return target{scope: at, value: doc.root}, ""
	}
	return l.follow(at, doc.root, fragment)
}

// byText collects the identifiers of a text; the first of equal ones counts.
func (f *lookup) byText(v *Value, key string) {
	if v.kind == valueObject {
		if id, ok := v.str(key); ok && f.ids[id] == nil {
			f.ids[id] = v
		}
	}
	for i := range v.elems {
		f.byText(&v.elems[i], key)
	}
}

// modernTarget finds what a reference of 2019-09 and 2020-12 leads to, or says
// why nothing.
func (l *loader) modernTarget(s scope, ref string) (target, string) {
	address, fragment := cutFragment(ref)
	at := s
	if address != "" {
		var ok bool
		if at, ok = l.resource(s, address); !ok {
			return target{}, leadsOut
		}
	}
	switch {
	case fragment == "":
		return target{scope: at, value: at.root}, ""
	case strings.HasPrefix(fragment, "/"):
		return l.follow(at, at.root, fragment)
	}
	l.index(at.doc)
	if !l.spend(at, len(at.base)+len(fragment)) {
		return target{}, leadsNowhere
	}
	if found, ok := at.doc.found.anchors[at.base+"#"+unescape(fragment)]; ok {
		return target{scope: found.scope, value: found.value, path: "/" + pointerEscapes.Replace(ref)}, ""
	}
	return target{}, leadsNowhere
}

// resource finds a text or a part of one by an address: a name of a registered
// reference as written, or the address of one or of a part with an identifier.
func (l *loader) resource(s scope, address string) (scope, bool) {
	full := l.resolve(s, address)
	for _, doc := range []*document{s.doc, l.main} {
		l.index(doc)
		if found, ok := doc.found.inside[full]; ok {
			return found.scope, true
		}
	}
	for _, name := range []string{address, full} {
		doc := l.docs[name]
		if doc == nil {
			doc = l.meta(name, s.doc.draft)
		}
		if doc != nil {
			return doc.scope(), true
		}
	}
	return scope{}, false
}

// index collects the resources and anchors of a text, once.
func (l *loader) index(doc *document) {
	if doc.found != nil {
		return
	}
	doc.found = &lookup{anchors: map[string]scoped{}, inside: map[string]scoped{}}
	l.byAddress(doc.found, doc.scope(), doc.root)
}

func (l *loader) byAddress(f *lookup, s scope, v *Value) {
	if v.kind == valueObject {
		if id, ok := v.str("$id"); ok || v == s.doc.root {
			if v != s.doc.root {
				address, _ := cutFragment(id)
				s.base, s.root = l.resolve(s, address), v
			}
			if _, twice := f.inside[s.base]; !twice {
				f.inside[s.base] = scoped{s, v}
			}
		}
		for _, key := range []string{"$anchor", "$dynamicAnchor"} {
			if name, ok := v.str(key); ok && l.spend(s, len(s.base)+len(name)) {
				f.anchors[s.base+"#"+name] = scoped{s, v}
			}
		}
	}
	for i := range v.elems {
		if v.kind == valueObject && (v.keys[i] == "enum" || v.keys[i] == "const") {
			continue
		}
		l.byAddress(f, s, &v.elems[i])
	}
}

// follow walks a pointer, as the fragment of a reference has it, from a value.
// A definition that isn't under $defs is also looked for under definitions.
func (l *loader) follow(s scope, from *Value, fragment string) (target, string) {
	t, ok := l.walk(s, from, fragment)
	if rest, isDefs := strings.CutPrefix(fragment, "/$defs/"); !ok && isDefs {
		t, ok = l.walk(s, from, "/definitions/"+rest)
	}
	if !ok {
		return t, leadsNowhere
	}
	if !t.value.isSchema() {
		return t, "leads to what is no schema"
	}
	return t, ""
}

func (l *loader) walk(s scope, v *Value, pointer string) (target, bool) {
	for step := range strings.SplitSeq(pointer[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(unescape(step), "~1", "/"), "~0", "~")
		if v = l.member(v, step); v == nil {
			return target{}, false
		}
		if !s.doc.draft.modern() || v.kind != valueObject {
			continue
		}
		if id, ok := v.str("$id"); ok {
			address, _ := cutFragment(id)
			s.base, s.root = l.resolve(s, address), v
		}
	}
	return target{scope: s, value: v, path: pointer}, true
}

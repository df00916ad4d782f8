package transfer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"milena/registry/state"
	"milena/registry/store"
)

// RemoteOptions say which registry is read. URL is required; the zero value of
// everything else is usable.
type RemoteOptions struct {
	// URL is where a registry with Confluent's REST API is. A path is kept, user
	// and password are sent as HTTP Basic credentials.
	URL string
	// After skips the subjects up to and including this one, in the order of
	// names: where an earlier reading ended.
	After string
	// Transport sends the requests; default one of its own.
	Transport http.RoundTripper

	SubjectsMax int           // subjects of the registry; default 2,000,000
	Parallel    int           // subjects read at the same time; default 8
	Timeout     time.Duration // of one request; default 30 s
}

func (o RemoteOptions) withDefaults() RemoteOptions {
	if o.SubjectsMax <= 0 {
		o.SubjectsMax = 2_000_000
	}
	if o.Parallel <= 0 {
		o.Parallel = 8
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Transport == nil {
		o.Transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: o.Parallel, IdleConnTimeout: 90 * time.Second,
			TLSHandshakeTimeout: 5 * time.Second, ForceAttemptHTTP2: true,
		}
	}
	return o
}

// Remote is a live registry as a source. It needs nothing newer than the API of
// Confluent Schema Registry 5.5; what a registry doesn't have (contexts,
// associations, keys) is left out.
type Remote struct {
	opt RemoteOptions
	*fetcher
}

// NewRemote returns a Remote. It connects to nothing yet.
func NewRemote(o RemoteOptions) (*Remote, error) {
	o = o.withDefaults()
	f, err := newFetcher(o.URL, o.Transport, o.Timeout)
	if err != nil {
		return nil, err
	}
	return &Remote{opt: o, fetcher: f}, nil
}

// Close closes idle connections.
func (r *Remote) Close() error {
	r.http.CloseIdleConnections()
	return nil
}

// Lines yields what the registry holds: contexts, then subject by subject its
// versions, associations and settings, then keys and the settings of contexts.
// It is a walk through a registry that may change meanwhile, not a snapshot.
// What was there and is gone when its turn comes is left out. A registry that
// stops answering ends the source with an error; Resume of the items tells
// where to go on.
func (r *Remote) Lines(ctx context.Context) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		number := 0
		for item, err := range r.items(ctx) {
			number++
			item.Number = number
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

func (r *Remote) items(ctx context.Context) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		contexts, err := r.contexts(ctx)
		if err != nil {
			yield(Item{}, err)
			return
		}
		for _, name := range contexts {
			if !yield(Item{Line: Line{Context: &Context{Name: name}}}, nil) {
				return
			}
		}
		subjects, err := r.subjects(ctx)
		if err != nil {
			yield(Item{}, err)
			return
		}
		used := map[string]int{} // some id of each context
		for item, err := range ordered(ctx, len(subjects), r.opt.Parallel, func(ctx context.Context, i int, emit func(Item) bool) error {
			return r.subject(ctx, subjects[i], emit)
		}) {
			if !yield(item, err) || err != nil {
				return
			}
			if s := item.Line.Schema; s != nil {
				used[state.ParseName(s.Subject).Context] = s.ID
			}
		}
		put := func(l Line) bool { return yield(Item{Line: l}, nil) }
		if err := r.rest(ctx, contexts, used, put); err != nil && !errors.Is(err, errEnough) {
			yield(Item{}, err)
		}
	}
}

// errEnough says that the consumer has enough.
var errEnough = errors.New("enough")

func (r *Remote) contexts(ctx context.Context) ([]string, error) {
	var names []string
	if _, err := r.get(ctx, "/contexts", &names); err != nil {
		return nil, err
	}
	if !slices.Contains(names, state.DefaultContext) {
		names = append([]string{state.DefaultContext}, names...)
	}
	return names, nil
}

// subjects returns the names of all subjects after After, soft deleted ones
// included, in the order of names.
func (r *Remote) subjects(ctx context.Context) ([]string, error) {
	var names []string
	if _, err := r.get(ctx, "/subjects?subjectPrefix="+url.QueryEscape(":*:")+"&deleted=true", &names); err != nil {
		return nil, err
	}
	if len(names) > r.opt.SubjectsMax {
		return nil, fmt.Errorf("the registry has %d subjects, more than %d", len(names), r.opt.SubjectsMax)
	}
	compare := func(a, b string) int { return state.CompareNames(state.ParseName(a), state.ParseName(b)) }
	slices.SortFunc(names, compare)
	names = slices.Compact(names)
	if r.opt.After != "" {
		i, found := slices.BinarySearchFunc(names, r.opt.After, compare)
		if found {
			i++
		}
		names = names[i:]
	}
	return names, nil
}

// remoteVersion is the answer to a request for a version, in the part that is
// kept.
type remoteVersion struct {
	store.Schema
	TimestampMillis int64 `json:"ts"`
}

// subject emits what belongs to one subject. The last item resumes after it.
func (r *Remote) subject(ctx context.Context, name string, emit func(Item) bool) error {
	path := "/subjects/" + url.PathEscape(name) + "/versions"
	var all, live []int
	if _, err := r.get(ctx, path+"?deleted=true", &all); err != nil {
		return err
	}
	if _, err := r.get(ctx, path, &live); err != nil {
		return err
	}
	var held *Item // the last one is emitted with Resume
	put := func(l Line) bool {
		ok := held == nil || emit(*held)
		held = &Item{Line: l}
		return ok
	}
	slices.Sort(all)
	for _, version := range all {
		var v remoteVersion
		ok, err := r.get(ctx, path+"/"+strconv.Itoa(version)+"?deleted=true", &v)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		v.Subject, v.Version, v.Deleted = name, version, !slices.Contains(live, version)
		if v.Type == "" {
			v.Type = "AVRO"
		}
		if !put(Line{Schema: &v.Schema, TimestampMillis: v.TimestampMillis}) {
			return errEnough
		}
	}
	if err := r.associations(ctx, name, put); err != nil {
		return err
	}
	if err := r.settings(ctx, name, put); err != nil {
		return err
	}
	if held == nil {
		return nil
	}
	held.Resume = name
	if !emit(*held) {
		return errEnough
	}
	return nil
}

// settings emits config and mode of a subject or context.
func (r *Remote) settings(ctx context.Context, name string, put func(Line) bool) error {
	suffix := ""
	if name != "" {
		suffix = "/" + url.PathEscape(name)
	}
	var c store.Config
	ok, err := r.get(ctx, "/config"+suffix, &c)
	if err != nil {
		return err
	}
	// Two contexts always answer; the server's own default is no config.
	always := name == "" || name == state.Name{Context: state.GlobalContext}.Prefix()
	if ok && !(always && isDefault(&c)) {
		c.Subject = name
		if !put(Line{Config: &c}) {
			return errEnough
		}
	}
	var m store.Mode
	if ok, err = r.get(ctx, "/mode"+suffix, &m); err != nil {
		return err
	}
	if ok && m.Mode != "" && !(always && m.Mode == "READWRITE") {
		m.Subject = name
		if !put(Line{Mode: &m}) {
			return errEnough
		}
	}
	return nil
}

// isDefault reports whether a config says what a server without one does.
func isDefault(c *store.Config) bool {
	return c.CompatibilityLevel == "BACKWARD" && c.CompatibilityPolicy == "" && c.CompatibilityGroup == nil &&
		c.Normalize == nil && c.ValidateFields == nil && c.ValidateNewSchemas == nil && c.ValidateRules == nil &&
		c.DefaultMetadata == nil && c.OverrideMetadata == nil && c.DefaultRuleSet == nil && c.OverrideRuleSet == nil
}

func (r *Remote) associations(ctx context.Context, subject string, put func(Line) bool) error {
	var list []struct {
		store.Association
		CreateMillis int64 `json:"createTs"`
		UpdateMillis int64 `json:"updateTs"`
	}
	if _, err := r.get(ctx, "/associations/subjects/"+url.PathEscape(subject), &list); err != nil {
		return err
	}
	for i := range list {
		a := list[i].Association
		a.Frozen = a.Frozen || a.Lifecycle == "STRONG" // answers leave out what follows
		if !put(associationLine(&a, list[i].CreateMillis, list[i].UpdateMillis)) {
			return errEnough
		}
	}
	return nil
}

// rest emits what belongs to no subject. used has an id of each context that has
// any.
func (r *Remote) rest(ctx context.Context, contexts []string, used map[string]int, put func(Line) bool) error {
	if err := r.keys(ctx, put); err != nil {
		return err
	}
	for _, name := range contexts {
		if err := r.highestID(ctx, name, used, put); err != nil {
			return err
		}
	}
	for _, name := range append(slices.Clone(contexts), state.GlobalContext) {
		if err := r.settings(ctx, state.Name{Context: name}.Prefix(), put); err != nil {
			return err
		}
	}
	return nil
}

// highestID emits the highest id that a context ever gave out, which an answer
// by any of its ids can tell in newer releases.
func (r *Remote) highestID(ctx context.Context, name string, used map[string]int, put func(Line) bool) error {
	id, ok := used[name]
	if !ok {
		return nil
	}
	var s struct {
		MaxID int `json:"maxId"`
	}
	path := "/schemas/ids/" + strconv.Itoa(id) + "?fetchMaxId=true&subject=" + url.QueryEscape(state.Name{Context: name}.Prefix())
	if _, err := r.get(ctx, path, &s); err != nil {
		return err
	}
	if s.MaxID > 0 && !put(Line{Context: &Context{Name: name, MaxID: s.MaxID}}) {
		return errEnough
	}
	return nil
}

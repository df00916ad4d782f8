package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"milena/serde/schema"
)

// Trees is the history of files: each tree is one version of everything, oldest
// first, as revisions of git are. Files are of the same subject if the project
// says so, wherever they were.
type Trees struct {
	trees    []*Tree
	library  []*library
	subjects []map[string]item
}

var _ History = (*Trees)(nil)

// NewTrees returns the history of trees. Its methods may be called concurrently.
func NewTrees(p *Project, r Reading, trees []*Tree) (*Trees, error) {
	h := &Trees{trees: trees}
	for _, t := range trees {
		list, err := items(p, r, t, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Label, err)
		}
		bySubject := make(map[string]item, len(list))
		for _, i := range list {
			if _, twice := bySubject[i.subject]; !twice {
				bySubject[i.subject] = i
			}
		}
		h.subjects = append(h.subjects, bySubject)
		h.library = append(h.library, newLibrary(t, r, p.Roots))
	}
	return h, nil
}

// Versions returns the files of a subject, one of each tree that has one.
func (h *Trees) Versions(_ context.Context, subject string, _ bool) ([]Old, error) {
	var out []Old
	for n, t := range h.trees {
		i, ok := h.subjects[n][subject]
		if !ok {
			continue
		}
		resolved, err := h.library[n].resolve(i.file, i.format)
		if err != nil {
			return nil, fmt.Errorf("%s:%s: %w", t.Label, i.file, err)
		}
		out = append(out, Old{Label: t.Label + ":" + i.file, Schema: resolved})
	}
	return out, nil
}

// Settings returns nothing: files have no settings.
func (h *Trees) Settings(context.Context, string) (level, policy string, err error) {
	return "", "", nil
}

// Gone lists the subjects of the newest tree that are not among names.
func (h *Trees) Gone(names map[string]bool) []string {
	if len(h.trees) == 0 {
		return nil
	}
	var out []string
	for subject := range h.subjects[len(h.trees)-1] {
		if !names[subject] {
			out = append(out, subject)
		}
	}
	slices.Sort(out)
	return out
}

// Fixed is a history of given versions, whatever the subject.
type Fixed []Old

var _ History = Fixed(nil)

// OldFile reads an older version from a tree. The format is that of the file.
func OldFile(t *Tree, r Reading, file string, format schema.Type) (Old, error) {
	if told, err := r.Tell(file, t.Files[file]); err == nil {
		format = told
	}
	resolved, err := newLibrary(t, r, nil).resolve(file, format)
	if err != nil {
		return Old{}, fmt.Errorf("%s: %w", file, err)
	}
	return Old{Label: strings.TrimPrefix(t.Label+"/"+file, "./"), Schema: resolved}, nil
}

// Versions returns the versions.
func (f Fixed) Versions(context.Context, string, bool) ([]Old, error) {
	return append([]Old(nil), f...), nil
}

// Settings returns nothing.
func (f Fixed) Settings(context.Context, string) (level, policy string, err error) {
	return "", "", nil
}

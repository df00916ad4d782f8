package state

import (
	"cmp"
	"iter"

	"milena/registry/store"
)

// Association ties a subject to a resource. It is immutable.
type Association struct {
	store.Association
	Name         Name  // of the subject
	CreateMillis int64 // milliseconds since the epoch: of the first record of this GUID
	UpdateMillis int64 // of the last one
}

// tie is the key of an association, in the order in which they are listed.
type tie struct {
	namespace, resource, resourceType, kind, subject text
}

func (a tie) compare(b tie) int {
	return cmp.Or(
		a.namespace.compare(b.namespace), a.resource.compare(b.resource),
		a.resourceType.compare(b.resourceType), a.kind.compare(b.kind), a.subject.compare(b.subject),
	)
}

type ties = tree[tie, *Association]

// associations are all of a registry, and the same ones by what they are looked
// up by.
type associations struct {
	all       ties
	bySubject tree[text, ties]
	byID      tree[text, ties] // of the resource
	byName    tree[text, ties] // of the resource, in whatever namespace
}

// put returns index with or, if a is nil, without an association.
func put(index tree[text, ties], at string, key tie, a *Association) tree[text, ties] {
	in, _ := index.get(text(at))
	if a != nil {
		return index.set(text(at), in.set(key, a))
	}
	if in = in.remove(key); in.len() > 0 {
		return index.set(text(at), in)
	}
	return index.remove(text(at))
}

// applyAssociation folds an ASSOC record. The key counts where the value says
// something else.
func (v *View) applyAssociation(r *store.Record) {
	name := ParseName(r.Subject)
	key := tie{text(r.Resource.Namespace), text(r.Resource.Name), text(r.Resource.Type), text(r.Resource.AssociationType), text(name.String())}
	old, known := v.associations.all.get(key)
	i := &v.associations
	if known {
		i.all = i.all.remove(key)
		i.bySubject = put(i.bySubject, name.String(), key, nil)
		i.byID = put(i.byID, old.ResourceID, key, nil)
		i.byName = put(i.byName, old.ResourceName, key, nil)
	}
	if r.Association == nil {
		return
	}
	a := &Association{Association: *r.Association, Name: name, CreateMillis: r.TimestampMillis, UpdateMillis: r.TimestampMillis}
	a.Subject, a.ResourceName, a.ResourceNamespace = name.String(), r.Resource.Name, r.Resource.Namespace
	a.ResourceType, a.AssociationType = r.Resource.Type, r.Resource.AssociationType
	if known && old.GUID == a.GUID {
		a.CreateMillis = old.CreateMillis
	}
	i.all = i.all.set(key, a)
	i.bySubject = put(i.bySubject, name.String(), key, a)
	i.byID = put(i.byID, a.ResourceID, key, a)
	i.byName = put(i.byName, a.ResourceName, key, a)
}

// values yields the associations of t in order: by namespace, resource, type.
func values(t ties) iter.Seq[*Association] {
	return func(yield func(*Association) bool) {
		for _, a := range t.all() {
			if !yield(a) {
				return
			}
		}
	}
}

// Associations yields all associations, by namespace, resource and type, as the
// functions below do.
func (v *View) Associations() iter.Seq[*Association] { return values(v.associations.all) }

// AssociationsOf yields the associations of a subject.
func (v *View) AssociationsOf(n Name) iter.Seq[*Association] {
	t, _ := v.associations.bySubject.get(text(n.String()))
	return values(t)
}

// AssociationsByID yields the associations of the resource with an id.
func (v *View) AssociationsByID(resourceID string) iter.Seq[*Association] {
	t, _ := v.associations.byID.get(text(resourceID))
	return values(t)
}

// AssociationsNamed yields the associations of resources of a name, in every
// namespace.
func (v *View) AssociationsNamed(resource string) iter.Seq[*Association] {
	t, _ := v.associations.byName.get(text(resource))
	return values(t)
}

// AssociationsIn yields the associations of a namespace.
func (v *View) AssociationsIn(namespace string) iter.Seq[*Association] {
	return func(yield func(*Association) bool) {
		for key, a := range v.associations.all.from(tie{namespace: text(namespace)}) {
			if string(key.namespace) != namespace || !yield(a) {
				return
			}
		}
	}
}

// SameAssociations reports whether both views have the same associations of a
// subject.
func (v *View) SameAssociations(o *View, n Name) bool {
	return same(v.associations.bySubject, o.associations.bySubject, n.String())
}

// SameResource reports whether both views have the same associations of the
// resource with an id, and of those with a name.
func (v *View) SameResource(o *View, resourceID, resource string) bool {
	return same(v.associations.byID, o.associations.byID, resourceID) &&
		same(v.associations.byName, o.associations.byName, resource)
}

func same(a, b tree[text, ties], at string) bool {
	x, _ := a.get(text(at))
	y, _ := b.get(text(at))
	return x.root == y.root
}

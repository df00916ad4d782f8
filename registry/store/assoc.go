package store

// Resource names one side of an association: a resource such as a topic, and
// which of its schemas is meant.
type Resource struct {
	Name            string
	Namespace       string
	Type            string // "topic"
	AssociationType string // "key" or "value"
}

// Association is the value of an ASSOC record: it ties a subject to a resource.
// The reference's log holds no times; they are those of the records.
type Association struct {
	GUID              string `json:"guid"`
	Tenant            string `json:"tenant"`
	ResourceName      string `json:"resourceName"`
	ResourceNamespace string `json:"resourceNamespace"`
	ResourceID        string `json:"resourceId"`
	ResourceType      string `json:"resourceType"`
	AssociationType   string `json:"associationType"`
	Subject           string `json:"subject"`
	Lifecycle         string `json:"lifecycle"` // "WEAK" or "STRONG"
	Frozen            bool   `json:"frozen"`
}

// NewAssociation returns the record that writes a, its tenant filled in.
func NewAssociation(a Association) *Record {
	a.Tenant = tenant
	return &Record{Kind: AssocKind, Subject: a.Subject, Resource: a.Resource(), Association: &a}
}

// Resource returns the resource that a is about.
func (a *Association) Resource() Resource {
	return Resource{Name: a.ResourceName, Namespace: a.ResourceNamespace, Type: a.ResourceType, AssociationType: a.AssociationType}
}

// assocKey is what the key of an ASSOC record has of its own.
type assocKey struct {
	ResourceName      *string `json:"resourceName,omitempty"`
	ResourceNamespace *string `json:"resourceNamespace,omitempty"`
	ResourceType      *string `json:"resourceType,omitempty"`
	AssociationType   *string `json:"associationType,omitempty"`
}

func assocKeyOf(r *Resource) assocKey {
	return assocKey{&r.Name, &r.Namespace, &r.Type, &r.AssociationType}
}

// complete reports whether the key has all parts.
func (k *assocKey) complete() bool {
	return k.ResourceName != nil && k.ResourceNamespace != nil && k.ResourceType != nil && k.AssociationType != nil
}

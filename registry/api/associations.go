package api

// Association is a tie between a resource, such as a topic, and a subject.
type Association struct {
	Subject           string `json:"subject,omitempty"`
	GUID              string `json:"guid,omitempty"`
	ResourceName      string `json:"resourceName,omitempty"`
	ResourceNamespace string `json:"resourceNamespace,omitempty"`
	ResourceID        string `json:"resourceId,omitempty"`
	ResourceType      string `json:"resourceType,omitempty"`
	AssociationType   string `json:"associationType,omitempty"`
	Lifecycle         string `json:"lifecycle,omitempty"`
	Frozen            *bool  `json:"frozen,omitempty"` // only where it does not follow from the lifecycle
	CreateTimestamp   int64  `json:"createTs"`         // milliseconds since the epoch
	UpdateTimestamp   int64  `json:"updateTs"`         // milliseconds since the epoch
}

// AssociationInfo is an association as part of the answer about its resource.
type AssociationInfo struct {
	Subject         string  `json:"subject,omitempty"`
	AssociationType string  `json:"associationType,omitempty"`
	Lifecycle       string  `json:"lifecycle,omitempty"`
	Frozen          *bool   `json:"frozen,omitempty"` // only where it does not follow from the lifecycle
	Schema          *Schema `json:"schema,omitempty"`
}

// AssociationResponse is the answer about one resource.
type AssociationResponse struct {
	ResourceName      string            `json:"resourceName,omitempty"`
	ResourceNamespace string            `json:"resourceNamespace,omitempty"`
	ResourceID        string            `json:"resourceId,omitempty"`
	ResourceType      string            `json:"resourceType,omitempty"`
	Associations      []AssociationInfo `json:"associations,omitempty"`
}

// The words of AssociationChange.Op.
const (
	OpCreate = "CREATE"
	OpUpsert = "UPSERT"
	OpDelete = "DELETE"
)

// AssociationRequest is the body of a request that changes the associations of
// one resource. Nil pointers are what the request left out or gave as null.
type AssociationRequest struct {
	ResourceName      string              `json:"resourceName,omitempty"`
	ResourceNamespace string              `json:"resourceNamespace,omitempty"`
	ResourceID        string              `json:"resourceId,omitempty"`
	ResourceType      string              `json:"resourceType,omitempty"`
	Associations      []AssociationChange `json:"associations,omitempty"`
}

// AssociationChange is one association to create, change or delete.
type AssociationChange struct {
	Op               string           `json:"opType,omitempty"` // in batches only
	Subject          *string          `json:"subject,omitempty"`
	AssociationType  *string          `json:"associationType,omitempty"`
	Lifecycle        *string          `json:"lifecycle,omitempty"` // "WEAK" or "STRONG"
	Frozen           *bool            `json:"frozen,omitempty"`
	Schema           *RegisterRequest `json:"schema,omitempty"`
	Normalize        *bool            `json:"normalize,omitempty"`
	CascadeLifecycle bool             `json:"cascadeLifecycle,omitempty"` // of DELETE
}

// AssociationGet is one request of a batch that reads the associations of
// resources, by id or by name and namespace.
type AssociationGet struct {
	ResourceName      string   `json:"resourceName,omitempty"`
	ResourceNamespace string   `json:"resourceNamespace,omitempty"`
	ResourceID        string   `json:"resourceId,omitempty"`
	ResourceType      string   `json:"resourceType,omitempty"`
	AssociationTypes  []string `json:"associationTypes,omitempty"`
	Lifecycle         string   `json:"lifecycle,omitempty"`
}

// AssociationResults is the answer to a batch: one result for each request.
type AssociationResults struct {
	Results []AssociationResult `json:"results"`
}

// AssociationResult holds one of the two.
type AssociationResult struct {
	Result *AssociationResponse `json:"result,omitempty"`
	Error  *ErrorMessage        `json:"error,omitempty"`
}

func lifecycles() []string { return []string{"STRONG", "WEAK"} }

// DecodeAssociations reads the body of a request that changes the associations
// of one resource.
func DecodeAssociations(body []byte) (AssociationRequest, error) {
	o, err := object(body)
	if err != nil {
		return AssociationRequest{}, err
	}
	d := &decoder{}
	r := d.associationRequest(o, false)
	return r, d.result()
}

// DecodeAssociationGets reads the body of a batch that reads associations.
func DecodeAssociationGets(body []byte) ([]AssociationGet, error) {
	o, err := object(body)
	if err != nil {
		return nil, err
	}
	d := &decoder{}
	list := list(d, o["requests"], func(v any) AssociationGet {
		o, ok := d.members(v)
		if !ok {
			d.fail(&DecodeError{"null is not a request"})
			return AssociationGet{}
		}
		return AssociationGet{
			ResourceName:      d.textOr(o["resourceName"]),
			ResourceNamespace: d.textOr(o["resourceNamespace"]),
			ResourceID:        d.textOr(o["resourceId"]),
			ResourceType:      d.textOr(o["resourceType"]),
			AssociationTypes:  list(d, o["associationTypes"], d.textOr),
			Lifecycle:         d.enum(o["lifecycle"], "", "LifecyclePolicy", lifecycles()),
		}
	})
	return list, d.result()
}

// DecodeAssociationBatch reads the body of a batch that changes associations.
func DecodeAssociationBatch(body []byte) ([]AssociationRequest, error) {
	o, err := object(body)
	if err != nil {
		return nil, err
	}
	d := &decoder{}
	requests := list(d, o["requests"], func(v any) AssociationRequest {
		o, ok := d.members(v)
		if !ok {
			d.fail(&DecodeError{"null is not a request"})
			return AssociationRequest{}
		}
		return d.associationRequest(o, true)
	})
	return requests, d.result()
}

func (d *decoder) associationRequest(o map[string]any, batch bool) AssociationRequest {
	return AssociationRequest{
		ResourceName:      d.textOr(o["resourceName"]),
		ResourceNamespace: d.textOr(o["resourceNamespace"]),
		ResourceID:        d.textOr(o["resourceId"]),
		ResourceType:      d.textOr(o["resourceType"]),
		Associations: list(d, o["associations"], func(v any) AssociationChange {
			o, ok := d.members(v)
			if !ok {
				d.fail(&DecodeError{"null is not an association"})
				return AssociationChange{}
			}
			return d.associationChange(o, batch)
		}),
	}
}

func (d *decoder) associationChange(o map[string]any, batch bool) AssociationChange {
	c := AssociationChange{
		Subject:         d.text(o["subject"]),
		AssociationType: d.text(o["associationType"]),
		Frozen:          d.boolean(o["frozen"]),
		Normalize:       d.boolean(o["normalize"]),
	}
	if batch {
		c.Op = d.enum(o["opType"], "", "OpType", []string{OpCreate, OpUpsert, OpDelete})
		if c.Op == "" {
			d.fail(&DecodeError{"Could not resolve subtype of AssociationOp: missing type id property 'opType'"})
		}
		if cascade := d.boolean(o["cascadeLifecycle"]); cascade != nil {
			c.CascadeLifecycle = *cascade
		}
	}
	if o["lifecycle"] != nil {
		lifecycle := d.enum(o["lifecycle"], "", "LifecyclePolicy", lifecycles())
		c.Lifecycle = &lifecycle
	}
	if schema, ok := d.members(o["schema"]); ok {
		register := d.register(schema)
		c.Schema = &register
	}
	return c
}

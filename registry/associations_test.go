package registry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"milena/registry"
	"milena/registry/api"
	"milena/registry/errcode"
	"milena/registry/store"
	"milena/registry/store/memory"
)

// own asks for a subject of a resource's own, in the context ".n".
func own(resource, text string) api.AssociationRequest {
	req := request(text)
	return api.AssociationRequest{
		ResourceName: resource, ResourceNamespace: "n", ResourceID: resource,
		Associations: []api.AssociationChange{{Schema: &req}},
	}
}

// shared asks for a weak association with a subject.
func shared(resource, subject string) api.AssociationRequest {
	return api.AssociationRequest{
		ResourceName: resource, ResourceNamespace: "n", ResourceID: resource,
		Associations: []api.AssociationChange{{Subject: &subject}},
	}
}

func associate(t testing.TB, r *registry.Registry, req api.AssociationRequest) api.AssociationResponse {
	t.Helper()
	resp, err := r.CreateAssociations(t.Context(), req, false)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// TestReferenceTopicAssociations folds a topic that the reference wrote and
// wants the associations that it leaves.
func TestReferenceTopicAssociations(t *testing.T) {
	log := memory.New()
	end := int64(0)
	want := map[string]int64{} // GUID to time
	byKey := map[string]string{}
	lines(t, "topic.jsonl", func(line []byte) {
		var l struct {
			Timestamp  int64
			Key, Value *string
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		e := store.Entry{TimestampMillis: l.Timestamp, Key: []byte(*l.Key)}
		if l.Value != nil {
			e.Value = []byte(*l.Value)
		}
		var err error
		if end, err = log.Append(t.Context(), end, []store.Entry{e}); err != nil {
			t.Fatal(err)
		}
		var key struct{ Keytype string }
		if err := json.Unmarshal(e.Key, &key); err != nil || key.Keytype != "ASSOC" {
			return
		}
		var value struct{ GUID string }
		if l.Value == nil {
			delete(want, byKey[*l.Key])
			return
		}
		if err := json.Unmarshal(e.Value, &value); err != nil {
			t.Fatal(err)
		}
		byKey[*l.Key], want[value.GUID] = value.GUID, l.Timestamp
	})
	r := open(t, registry.Options{Log: log})
	all, err := r.AssociationsByName(t.Context(), "-", "-", registry.AssociationsQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(want) || len(all) < 3 {
		t.Errorf("%d associations, want %d", len(all), len(want))
	}
	for _, a := range all {
		if ts, ok := want[a.GUID]; !ok || a.CreateTimestamp != ts || a.UpdateTimestamp != ts || a.Frozen != nil {
			t.Errorf("%+v, want time %d", a, ts)
		}
	}
}

// TestOddFrozen: what an earlier release wrote, strong and not frozen, is shown
// as it is and can be deleted.
func TestOddFrozen(t *testing.T) {
	log := memory.New()
	seed := open(t, registry.Options{Log: log})
	register(t, seed, ":.n:t-value", `"int"`)
	end := int64(0)
	for e, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		end = e.Position + 1
	}
	e, err := store.Encode(store.NewAssociation(store.Association{
		GUID: "g", ResourceName: "t", ResourceNamespace: "n", ResourceID: "t", ResourceType: "topic",
		AssociationType: "value", Subject: ":.n:t-value", Lifecycle: "STRONG",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(t.Context(), end, []store.Entry{e}); err != nil {
		t.Fatal(err)
	}
	r := open(t, registry.Options{Log: log})
	list, err := r.AssociationsByID(t.Context(), "t", registry.AssociationsQuery{})
	if err != nil || len(list) != 1 || list[0].Frozen == nil || *list[0].Frozen {
		t.Fatalf("%+v, %v", list, err)
	}
	req := shared("t", ":.n:t-value")
	req.Associations[0].Lifecycle = ptr("WEAK")
	if resp, err := r.UpsertAssociations(t.Context(), req, false); err != nil || len(resp.Associations) != 1 {
		t.Errorf("made weak: %+v, %v", resp, err)
	}
	if err := r.DeleteAssociations(t.Context(), "t", registry.AssociationsDeletion{}); err != nil {
		t.Error(err)
	}
	wantVersions(t, r, ":.n:t-value", false, 1)
}

// TestDryRunsWriteNothing: neither the changes nor the answers of dry runs show.
func TestDryRunsWriteNothing(t *testing.T) {
	log := memory.New()
	r := open(t, registry.Options{Log: log})
	associate(t, r, own("t", `"int"`))
	before := dump(t, r)
	next := own("t", `"long"`)
	for _, run := range []func() (api.AssociationResponse, error){
		func() (api.AssociationResponse, error) {
			return r.CreateAssociations(t.Context(), own("u", `"int"`), true)
		},
		func() (api.AssociationResponse, error) { return r.UpsertAssociations(t.Context(), next, true) },
		func() (api.AssociationResponse, error) {
			return api.AssociationResponse{}, r.DeleteAssociations(t.Context(), "t", registry.AssociationsDeletion{Cascade: true, DryRun: true})
		},
	} {
		if resp, err := run(); err != nil || resp.Associations != nil {
			t.Errorf("%+v, %v", resp, err)
		}
	}
	if after := dump(t, r); after != before {
		t.Errorf("a dry run changed\n%s\nto\n%s", before, after)
	}
	_, err := r.CreateAssociations(t.Context(), own("u", "nope"), true)
	wantRow(t, err, errcode.InvalidSchema, "")
}

func TestAssociationLimits(t *testing.T) {
	r := open(t, registry.Options{Limits: registry.Limits{AssociationBatchMax: 2, AssociationsPageMax: 3}})
	register(t, r, "s", `"int"`)
	for i := range 5 {
		associate(t, r, shared(fmt.Sprint("t", i), "s"))
	}
	list, err := r.AssociationsBySubject(t.Context(), "s", registry.AssociationsQuery{Page: registry.Page{Limit: 100, Offset: 1}})
	if err != nil || len(list) != 3 || list[0].ResourceName != "t1" {
		t.Errorf("%+v, %v", list, err)
	}
	_, err = r.GetAssociations(t.Context(), make([]api.AssociationGet, 3), false)
	wantRow(t, err, errcode.InvalidAssociation, "'requests'")
	_, err = r.ChangeAssociations(t.Context(), make([]api.AssociationRequest, 3))
	wantRow(t, err, errcode.InvalidAssociation, "'requests'")
	req := shared("x", "s")
	req.Associations = append(req.Associations, req.Associations[0], req.Associations[0])
	_, err = r.CreateAssociations(t.Context(), req, false)
	wantRow(t, err, errcode.InvalidAssociation, "'associations'")
	got, err := r.GetAssociations(t.Context(), []api.AssociationGet{{ResourceName: "-", ResourceNamespace: "n"}}, false)
	if err != nil || len(got.Results[0].Result.Associations) != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestAssociationsInACrowd lets clients make, change and delete associations,
// schemas and references of the same few subjects. No order of theirs may
// break what associations promise; a replay gives the live state.
func TestAssociationsInACrowd(t *testing.T) {
	log := memory.New()
	r := open(t, registry.Options{Log: log, Limits: registry.Limits{WriteAttemptsMax: 1000}})
	register(t, r, ":.n:other", `"int"`)
	var all sync.WaitGroup
	for seed := range 8 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(seed)))
			for range 40 {
				crowdStep(t, r, random)
			}
		})
	}
	all.Wait()
	if x, y := dump(t, r), dump(t, open(t, registry.Options{Log: log})); x != y {
		t.Errorf("a replay differs:\n%s\n%s", x, y)
	}
	schemas, err := r.Schemas(t.Context(), registry.SchemasQuery{Prefix: ":.n:"})
	if err != nil {
		t.Fatal(err)
	}
	live := map[string]bool{}
	for _, s := range schemas {
		live[s.Subject] = true
	}
	ties, err := r.AssociationsByName(t.Context(), "-", "-", registry.AssociationsQuery{})
	if err != nil {
		t.Fatal(err)
	}
	count, strong := map[string]int{}, map[string]bool{}
	for _, a := range ties {
		count[a.Subject]++
		strong[a.Subject] = strong[a.Subject] || a.Lifecycle == "STRONG"
		if !live[a.Subject] {
			t.Errorf("%+v is without a live version", a)
		}
	}
	for _, s := range schemas {
		if strong[s.Subject] && count[s.Subject] > 1 {
			t.Errorf("the strong association of %s is one of %d", s.Subject, count[s.Subject])
		}
		for _, ref := range s.References {
			if strong[":.n:"+ref.Subject] {
				t.Errorf("%s refers to %s, which belongs to a resource", s.Subject, ref.Subject)
			}
		}
	}
}

func crowdStep(t *testing.T, r *registry.Registry, random *rand.Rand) {
	ctx := context.Background()
	resource := fmt.Sprint("t", random.IntN(2))
	subject := ":.n:" + resource + "-value"
	var err error
	switch random.IntN(7) {
	case 0:
		_, err = r.CreateAssociations(ctx, own(resource, `"int"`), false)
	case 1:
		_, err = r.CreateAssociations(ctx, shared(fmt.Sprint("o", random.IntN(2)), subject), false)
	case 2:
		req := shared(resource, subject)
		req.Associations[0].Lifecycle = ptr("STRONG")
		_, err = r.UpsertAssociations(ctx, req, false)
	case 3:
		err = r.DeleteAssociations(ctx, []string{resource, "o0", "o1"}[random.IntN(3)], registry.AssociationsDeletion{Cascade: true})
	case 4:
		req := request(record(fmt.Sprint("R", random.IntN(4)), "a:int"))
		req.References = []api.Reference{{Name: "x", Subject: resource + "-value", Version: 1}}
		_, err = r.Register(ctx, ":.n:referrer", req, registry.RegisterOptions{Force: true})
	case 5:
		_, err = r.DeleteSubject(ctx, []string{subject, ":.n:referrer"}[random.IntN(2)], random.IntN(2) == 0)
	default:
		_, err = r.Register(ctx, subject, request(`"int"`), registry.RegisterOptions{})
	}
	if row := errcode.Of(err); err != nil && row.Row.Status >= 500 {
		t.Errorf("%v: %v", err, row.Cause)
	}
}

package api_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"milena/registry/api"
)

func ptrTo[T any](v T) *T { return &v }

func TestDecodeKeys(t *testing.T) {
	kek, err := api.DecodeKek([]byte(`{"name":"k","kmsType":"t","kmsKeyId":5,"kmsProps":null,"doc":"d","deleted":"true","x":1}`))
	want := api.KekRequest{
		Name: "k", KmsType: "t", KmsKeyID: "5", KmsProps: api.Null[map[string]string](), Doc: api.Given("d"), Deleted: true,
	}
	if err != nil || !reflect.DeepEqual(kek, want) {
		t.Errorf("%+v, %v", kek, err)
	}
	dek, err := api.DecodeDek([]byte(`{"subject":"s","version":"2","algorithm":"AES256_SIV","encryptedKeyMaterial":"AA"}`))
	if err != nil || !reflect.DeepEqual(dek, api.DekRequest{Subject: "s", Version: ptrTo(2), Algorithm: "AES256_SIV", EncryptedKeyMaterial: "AA"}) {
		t.Errorf("%+v, %v", dek, err)
	}
	for body, contains := range map[string]string{
		`{"algorithm":"DES"}`:    "[AES256_GCM, AES128_GCM, AES256_SIV]",
		`{"algorithm":["x"]}`:    "START_ARRAY",
		`{"version":"one"}`:      "one",
		`{"kmsProps":{"a":{}}}`:  "START_OBJECT",
		`{"kmsProps":{"a":null}`: "",
	} {
		_, kekErr := api.DecodeKek([]byte(body))
		_, err := api.DecodeDek([]byte(body))
		if err = errors.Join(kekErr, err); err == nil || !strings.Contains(err.Error(), contains) {
			t.Errorf("%s: %v", body, err)
		}
	}
	if _, err := api.DecodeKek([]byte("null")); !errors.Is(err, api.ErrNoBody) {
		t.Error(err)
	}
	if _, err := api.DecodeDek(nil); !errors.Is(err, api.ErrNoBody) {
		t.Error(err)
	}
	b, err := api.Marshal([]any{api.Kek{Name: "k", KmsProps: map[string]string{}}, api.Dek{Subject: "s", Deleted: true}})
	if want := `[{"name":"k","kmsType":"","kmsKeyId":"","kmsProps":{},"shared":false,"ts":0},` +
		`{"kekName":"","subject":"s","version":0,"algorithm":"","ts":0,"deleted":true}]`; err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
}

func TestDecodeAssociations(t *testing.T) {
	r, err := api.DecodeAssociations([]byte(`{"resourceName":"t","resourceNamespace":"n","resourceId":1,"associations":[
		{"subject":"s"},{"associationType":"key","lifecycle":"STRONG","frozen":true,"normalize":true,"schema":{"schema":"x","version":3}}]}`))
	want := api.AssociationRequest{ResourceName: "t", ResourceNamespace: "n", ResourceID: "1", Associations: []api.AssociationChange{
		{Subject: ptrTo("s")},
		{
			AssociationType: ptrTo("key"), Lifecycle: ptrTo("STRONG"), Frozen: ptrTo(true), Normalize: ptrTo(true),
			Schema: &api.RegisterRequest{Schema: ptrTo("x"), Version: ptrTo(3)},
		},
	}}
	if err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("%+v, %v", r, err)
	}
	gets, err := api.DecodeAssociationGets([]byte(`{"requests":[{"resourceId":"i"},{"resourceName":"t","resourceNamespace":"-","associationTypes":["key"],"lifecycle":"WEAK"}]}`))
	if err != nil || !reflect.DeepEqual(gets, []api.AssociationGet{
		{ResourceID: "i"}, {ResourceName: "t", ResourceNamespace: "-", AssociationTypes: []string{"key"}, Lifecycle: "WEAK"},
	}) {
		t.Errorf("%+v, %v", gets, err)
	}
	batch, err := api.DecodeAssociationBatch([]byte(`{"requests":[{"resourceId":"i","associations":[{"opType":"DELETE","associationType":"key","cascadeLifecycle":true}]}]}`))
	if err != nil || !reflect.DeepEqual(batch, []api.AssociationRequest{
		{ResourceID: "i", Associations: []api.AssociationChange{{Op: api.OpDelete, AssociationType: ptrTo("key"), CascadeLifecycle: true}}},
	}) {
		t.Errorf("%+v, %v", batch, err)
	}
	for body, contains := range map[string]string{
		`{"associations":[{"lifecycle":"weak"}]}`:              "[STRONG, WEAK]",
		`{"associations":[null]}`:                              "null is not an association",
		`{"associations":[{"schema":5}]}`:                      "VALUE_NUMBER",
		`{"requests":[null]}`:                                  "null is not a request",
		`{"requests":[{"associations":[{"opType":"DROP"}]}]}`:  "[CREATE, UPSERT, DELETE]",
		`{"requests":[{"associations":[{"subject":"s"}]}]}`:    "opType",
		`{"requests":[{"lifecycle":"NONE"}]}`:                  "[STRONG, WEAK]",
		`{"requests":{}}`:                                      "START_OBJECT",
		`{"requests":[{"associations":[{"opType":"UPSERT"}]}]`: "unexpected end",
	} {
		_, a := api.DecodeAssociations([]byte(body))
		_, b := api.DecodeAssociationGets([]byte(body))
		_, c := api.DecodeAssociationBatch([]byte(body))
		if err := errors.Join(a, b, c); err == nil || !strings.Contains(err.Error(), contains) {
			t.Errorf("%s: %v", body, err)
		}
	}
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write makes a folder of documents with the components given.
func write(t *testing.T, documents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, schemas := range documents {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"components":{"schemas":{`+schemas+`}}}`), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	optionsA = `"Options":{"type":"object","x-kubernetes-group-version-kind":[{"group":"a","version":"v1","kind":"Options"}]}`
	optionsB = `"Options":{"type":"object","x-kubernetes-group-version-kind":[{"group":"b","version":"v1","kind":"Options"}]}`
)

// One component of two documents stands for the kinds of both.
func TestCombine(t *testing.T) {
	dir := write(t, map[string]string{
		"api__v1_openapi.json":     optionsA,
		"apis__b__v1_openapi.json": optionsB + `,"Other":{"type":"object"}`,
		"version_openapi.json":     `"Info":{"type":"object"}`, // of no group
	})
	text, err := combine(dir)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Kinds []struct{ Group string } `json:"x-kubernetes-group-version-kind"`
			}
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	schemas := doc.Components.Schemas
	if kinds := schemas["Options"].Kinds; len(schemas) != 2 || len(kinds) != 2 || kinds[0].Group != "a" || kinds[1].Group != "b" {
		t.Errorf("%s", text)
	}
}

// The same documents give the same bytes, though Go maps have no order.
func TestGenerateIsStable(t *testing.T) {
	dir := write(t, map[string]string{"api__v1_openapi.json": optionsA, "apis__b__v1_openapi.json": optionsB})
	first, err := generate(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if again, err := generate(dir); err != nil || string(again) != string(first) {
			t.Fatalf("%q, then %q, %v", first, again, err)
		}
	}
}

func TestGenerateErrors(t *testing.T) {
	for want, documents := range map[string]map[string]string{
		"no OpenAPI documents":   {},
		"unexpected end of JSON": {"api__v1_openapi.json": `"a":{`},
		"component Options differs from that of another document": {
			"api__v1_openapi.json":     optionsA,
			"apis__b__v1_openapi.json": `"Options":{"type":"string"}`,
		},
		"in component a: $ref": {"api__v1_openapi.json": `"a":{"$ref":"b"}`},
	} {
		if _, err := generate(write(t, documents)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

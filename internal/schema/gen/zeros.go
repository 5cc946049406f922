package main

import (
	"fmt"
	"strings"

	"example.com/braid/internal/kinds"
	"example.com/braid/internal/schema"
)

// zeros sets what fields make of their zero values. OpenAPI does not say it; the Go types
// of the kinds do, for a server decodes objects into them. Fields that the Go types lack
// tell them from absence.
func zeros(api *schema.OpenAPI) error {
	scheme, err := kinds.Scheme()
	if err != nil {
		return err
	}
	seen := map[[2]*schema.Type]bool{}
	for k, t := range scheme.AllKnownTypes() {
		component, ok := api.Kinds[schema.GVK{Group: k.Group, Version: k.Version, Kind: k.Kind}]
		if !ok {
			continue
		}
		s, err := schema.FromType(t)
		if err != nil {
			return err
		}
		takeZeros(api.Types[component], s.Root, seen)
	}
	for component, fields := range elsewhere {
		t := api.Types[component]
		if t == nil {
			continue // documents of some groups only
		}
		for _, name := range strings.Fields(fields) {
			zero := schema.ZeroIsAbsent
			if auto, ok := strings.CutSuffix(name, "*"); ok {
				name, zero = auto, schema.ZeroIsAuto
			}
			f := t.Field(name)
			if f == nil {
				return fmt.Errorf("component %s has no field %s", component, name)
			}
			f.Zero = zero
		}
	}
	return nil
}

const (
	crd        = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
	aggregator = "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1."
)

// elsewhere are the fields, other than pointers, of the kinds whose Go types are in modules
// that this one does not require. internal/e2e, which does, compares (TestZerosOfOtherModules).
// A server puts a value of its own for those with a star.
var elsewhere = map[string]string{
	crd + "CustomResourceDefinition":          "apiVersion kind metadata spec status",
	crd + "CustomResourceColumnDefinition":    "name type format description priority jsonPath",
	crd + "CustomResourceConversion":          "strategy",
	crd + "CustomResourceDefinitionCondition": "type status lastTransitionTime reason message observedGeneration",
	crd + "CustomResourceDefinitionNames":     "plural singular* shortNames kind listKind* categories",
	crd + "CustomResourceDefinitionSpec":      "group names scope versions preserveUnknownFields",
	crd + "CustomResourceDefinitionStatus":    "conditions acceptedNames storedVersions observedGeneration",
	crd + "CustomResourceDefinitionVersion":   "name served storage deprecated additionalPrinterColumns selectableFields",
	crd + "CustomResourceSubresourceScale":    "specReplicasPath statusReplicasPath",
	crd + "ExternalDocumentation":             "description url",
	crd + "JSONSchemaProps":                   "id $schema description type format title exclusiveMaximum exclusiveMinimum pattern uniqueItems enum required allOf oneOf anyOf properties patternProperties dependencies definitions nullable x-kubernetes-embedded-resource x-kubernetes-int-or-string x-kubernetes-list-map-keys x-kubernetes-validations",
	crd + "SelectableField":                   "jsonPath",
	crd + "ServiceReference":                  "namespace name",
	crd + "ValidationRule":                    "rule message messageExpression fieldPath",
	crd + "WebhookClientConfig":               "caBundle",
	crd + "WebhookConversion":                 "conversionReviewVersions",
	aggregator + "APIService":                 "apiVersion kind metadata spec status",
	aggregator + "APIServiceCondition":        "type status lastTransitionTime reason message",
	aggregator + "APIServiceSpec":             "group version insecureSkipTLSVerify caBundle groupPriorityMinimum versionPriority",
	aggregator + "APIServiceStatus":           "conditions",
	aggregator + "ServiceReference":           "namespace name",
}

// takeZeros walks a type beside that of the Go type. Types of one shape share their
// fields, which are those of one struct, so what is set for one holds for all.
func takeZeros(t, from *schema.Type, seen map[[2]*schema.Type]bool) {
	pair := [2]*schema.Type{t, from}
	if t == nil || from == nil || seen[pair] {
		return
	}
	seen[pair] = true
	for i := range t.Fields {
		if f := from.Field(t.Fields[i].Name); f != nil {
			t.Fields[i].Zero = f.Zero
			takeZeros(t.Fields[i].Type, f.Type, seen)
		}
	}
	takeZeros(t.Elem, from.Elem, seen)
}

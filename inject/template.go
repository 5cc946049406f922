package inject

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/merge"
)

// The annotations of a ConfigMap or pod template that say how a template is injected. They
// are not injected themselves.
const (
	// NameAnnotation and VersionAnnotation name the template in records and reports. Without
	// them it has the name of its ConfigMap or pod template, or "template", and the digest of
	// its content for a version.
	NameAnnotation    = "inject.braid.example.com/name"
	VersionAnnotation = "inject.braid.example.com/version"
	// OverrideAnnotation lists the containers, separated by commas, that a pod may have of its
	// own, or * for all: what the pod says there wins, field by field, and the template gives
	// the rest.
	OverrideAnnotation = "inject.braid.example.com/override"
	// OrderAnnotation says where containers stand that are new to a pod, separated by commas:
	// "proxy=First, log=After app". The orders are First, Last, Before NAME, After NAME.
	OrderAnnotation = "inject.braid.example.com/order"
)

// EveryContainer is the name of a container of a template that stands for every container
// which the pod has: what else it holds, such as env and volumeMounts, is added to each.
const EveryContainer = "*"

// Template is what is injected: a piece of a pod template, parsed once. Immutable, safe for
// concurrent use.
type Template struct {
	name, version string
	tree          *node.Tree // {"metadata":{…},"spec":{…}}, without nulls
	texts         []text
	override      map[string]bool
	order         map[string]Order
}

// Name returns the name under which the template stands in records and reports.
func (t *Template) Name() string { return t.name }

// Version returns the version that records hold.
func (t *Template) Version() string { return t.version }

// Named returns the template under another name and version; what is "" stays.
func (t *Template) Named(name, version string) *Template {
	named := *t
	if name != "" {
		named.name = name
	}
	if version != "" {
		named.version = version
	}
	return &named
}

// ParseTemplate reads a template, as YAML or JSON: a ConfigMap that holds one under the key
// config, or its only key; or what such a key holds: containers, initContainers, volumes and
// any other field of a PodSpec, with or without metadata beside them; or metadata and spec
// of a pod template. Of metadata, labels and annotations are injected. Fields that no schema
// knows are kept.
//
// Null is nothing to add; but what names an element of a list, such as its name or
// containerPort, must not be null. See the package documentation for placeholders.
//
// The error is a [*merge.Error] about the document template, with its path.
func ParseTemplate(text []byte) (*Template, error) {
	t, err := node.ParseYAML(text, node.Limits{})
	if err != nil {
		return nil, node.In("template", err)
	}
	if t.Kind(0) != node.Map {
		return nil, templateError(nil, "a %s, want a map", t.Kind(0))
	}
	p := templateParser{settings: map[string]string{}}
	if valueAt(t, 0).get("kind").text() == "ConfigMap" {
		p.settle(t)
		if t, err = configOf(t); err != nil {
			return nil, err
		}
	}
	return p.parse(t)
}

// configOf returns the template that a ConfigMap holds.
func configOf(t *node.Tree) (*node.Tree, error) {
	data := valueAt(t, 0).get("data")
	config := data.get("config")
	if config == nil && data != nil && len(data.members()) == 1 {
		config = data.members()[0].v
	}
	if config == nil || config.kind != node.String {
		return nil, templateError(node.Path{{Field: "data"}}, "want the key config, or one key")
	}
	inner, err := node.ParseYAML([]byte(config.text()), node.Limits{})
	if err != nil {
		return nil, node.In("template", err)
	}
	if inner.Kind(0) != node.Map {
		return nil, templateError(nil, "data holds a %s, want a map", inner.Kind(0))
	}
	return inner, nil
}

type templateParser struct {
	settings map[string]string
}

const settingsPrefix = "inject.braid.example.com/"

// settle takes what metadata says of a template.
func (p *templateParser) settle(t *node.Tree) {
	meta := valueAt(t, 0).get("metadata")
	if name := meta.get("name").text(); name != "" {
		p.settings[NameAnnotation] = name
	}
	for _, m := range meta.get("annotations").members() {
		if strings.HasPrefix(m.key, settingsPrefix) {
			p.settings[m.key] = m.v.text()
		}
	}
}

func (p *templateParser) parse(t *node.Tree) (*Template, error) {
	p.settle(t)
	spec := t.Field(0, "spec")
	if spec == node.None {
		spec = 0
	}
	if err := namesFit(t, spec, fieldType(podType(), "spec")); err != nil {
		return nil, err
	}
	body, err := normalize(t)
	if err != nil {
		return nil, err
	}
	out := &Template{tree: body, name: p.settings[NameAnnotation], version: p.settings[VersionAnnotation]}
	if out.name == "" {
		out.name = "template"
	}
	if err := p.directives(out); err != nil {
		return nil, err
	}
	if out.version == "" {
		// What else the settings say is part of the content.
		sum := sha256.New()
		sum.Write(body.JSON())
		fmt.Fprintf(sum, "%q%q", p.settings[OverrideAnnotation], p.settings[OrderAnnotation])
		out.version = hex.EncodeToString(sum.Sum(nil)[:8])
	}
	if out.texts, err = textsOf(body); err != nil {
		return nil, err
	}
	return out, check(out)
}

func (p *templateParser) directives(t *Template) error {
	t.override, t.order = map[string]bool{}, map[string]Order{}
	for name := range strings.SplitSeq(p.settings[OverrideAnnotation], ",") {
		if name = strings.TrimSpace(name); name != "" {
			t.override[name] = true
		}
	}
	for word := range strings.SplitSeq(p.settings[OrderAnnotation], ",") {
		name, order, ok := strings.Cut(strings.TrimSpace(word), "=")
		if name == "" && !ok {
			continue
		}
		o, err := ParseOrder(order)
		if err != nil {
			return templateError(annotationPath(OrderAnnotation), "%v", err)
		}
		t.order[strings.TrimSpace(name)] = o
	}
	return nil
}

func annotationPath(key string) merge.Path {
	return merge.Path{{Field: "metadata"}, {Field: "annotations"}, {Field: key}}
}

// normalize returns {"metadata":…,"spec":…} without nulls, and of metadata what is injected.
func normalize(t *node.Tree) (*node.Tree, error) {
	root, out := valueAt(t, 0), newMap()
	meta, spec := root.get("metadata"), root.get("spec")
	if spec == nil {
		spec = newMap()
		for _, m := range root.members() {
			if m.key != "metadata" && m.key != "apiVersion" && m.key != "kind" {
				spec.set(m.key, m.v)
			}
		}
	} else {
		for _, m := range root.members() {
			switch m.key {
			case "metadata", "spec", "apiVersion", "kind", "status":
			default:
				return nil, templateError(node.Path{{Field: m.key}}, "stands beside spec; want it within")
			}
		}
	}
	injected := newMap()
	for _, key := range [...]string{"labels", "annotations"} {
		kept := newMap()
		for _, m := range meta.get(key).members() {
			switch {
			case strings.HasPrefix(m.key, settingsPrefix) || m.key == RecordAnnotation || m.v.kind == node.Null:
			case m.v.kind != node.String:
				return nil, templateError(node.Path{{Field: "metadata"}, {Field: key}, {Field: m.key}}, "a %s, want a string", m.v.kind)
			default:
				kept.set(m.key, m.v)
			}
		}
		if kept.size() > 0 {
			injected.set(key, kept)
		}
	}
	if injected.size() > 0 {
		out.set("metadata", injected)
	}
	if spec.kind == node.Map && spec.size() > 0 {
		orderEnv(spec)
		out.set("spec", spec)
	} else if spec.kind != node.Map && spec.kind != node.Null {
		return nil, templateError(node.Path{{Field: "spec"}}, "a %s, want a map", spec.kind)
	}
	full, err := node.Parse(out.append(nil), node.Limits{})
	if err != nil {
		return nil, node.In("template", err)
	}
	body, err := node.Parse(full.AppendDeclared(nil, 0), node.Limits{})
	return body, node.In("template", err)
}

// orderEnv lets the variables of each container stand before those that refer to them.
func orderEnv(spec *value) {
	for _, list := range containerLists[:2] {
		for _, c := range spec.get(list).elements() {
			env := c.get("env").elements()
			items := make([]item, len(env))
			for i, e := range env {
				items[i] = item{key: e.str("name"), v: e}
			}
			sortEnv(items)
			for i, e := range items {
				env[i] = e.v
			}
		}
	}
}

// podType is the type of a pod, whose metadata and spec are those of a pod template.
func podType() *schema.Type {
	s, _ := schema.Builtin("", "v1", "Pod")
	return s.Root
}

// namesFit refuses elements of the keyed lists at i and below without a name of their own: it
// is null, blank, not there or another's too.
func namesFit(t *node.Tree, i node.ID, typ *schema.Type) error {
	keys, seen := keysOf(typ), map[string]bool{}
	for _, kid := range t.Kids(i) {
		child := elemType(typ)
		if t.Kind(i) == node.Map {
			child = fieldType(typ, t.Key(kid))
		} else if len(keys) > 0 {
			if err := nameFits(t, kid, keys, seen); err != nil {
				return err
			}
		}
		if err := namesFit(t, kid, child); err != nil {
			return err
		}
	}
	return nil
}

func nameFits(t *node.Tree, elem node.ID, keys []schema.Key, seen map[string]bool) error {
	for _, k := range keys {
		f := t.Field(elem, k.Name)
		switch {
		case keyDefault(k) != "":
		case f == node.None:
			return templateError(t.Path(elem), "no %s, which names the element", k.Name)
		case t.Kind(f) == node.Null || t.Kind(f) == node.String && t.Text(f) == "":
			return templateError(t.Path(f), "blank; it names the element")
		}
	}
	key := keyOf(keys, valueAt(t, elem))
	if seen[key] {
		return templateError(t.Path(elem), "repeats %s", keys[0].Name)
	}
	seen[key] = true
	return nil
}

// check refuses what could not stand in a pod: values of a wrong type, names that repeat.
func check(t *Template) error {
	spec := valueAt(t.tree, 0).get("spec")
	names := map[string]bool{}
	for _, list := range [...]string{"initContainers", "containers"} {
		for _, c := range spec.get(list).elements() {
			name := c.str("name")
			switch {
			case name == EveryContainer && list != "containers":
				return templateError(containerPath(list, name), "stands in containers only")
			case names[name]:
				return templateError(containerPath(list, name), "two containers of one name")
			}
			names[name] = true
		}
	}
	if spec.get("ephemeralContainers") != nil {
		return templateError(node.Path{{Field: "spec"}, {Field: "ephemeralContainers"}}, "cannot be injected: a server takes them by a subresource only")
	}
	return typesFit(t)
}

// typesFit lets a merge check the types, with values that fit the conversions of placeholders.
func typesFit(t *Template) error {
	stand := make([]text, len(t.texts))
	for i, x := range t.texts {
		with := map[string]string{"": "x", "int": "1", "bool": "true"}[x.convert]
		stand[i] = text{at: x.at, pieces: []piece{{plain: with, source: with}}, convert: x.convert}
	}
	filled, err := fill(t.tree, stand, nil)
	if err != nil {
		return err
	}
	sample, err := filled.doc(t.tree)
	if err != nil {
		return err
	}
	_, err = mergers().semantic.ThreeWay(nil, nil, sample)
	if e, ok := err.(*merge.Error); ok {
		named := *e
		named.Doc = "template"
		return &named
	}
	return err
}

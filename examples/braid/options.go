package main

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	gvk "k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/braid/merge"
)

// settings are the flags that say how to merge.
type settings struct {
	policy, model, nulls, equality string
	dialect                        string
	schemaless, infer              bool
	crds, ignore, handover, rules  list
}

// list is a flag that may be given several times.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// schemaFlags are those of all commands.
func (s *settings) schemaFlags(flags *flag.FlagSet) {
	flags.BoolVar(&s.schemaless, "schemaless", false, "")
	flags.Var(&s.crds, "crd", "")
	flags.Var(&s.rules, "rule", "")
}

// planFlags are those of diff, merge and plan.
func (s *settings) planFlags(flags *flag.FlagSet) {
	flags.StringVar(&s.policy, "policy", "apply", "")
	flags.StringVar(&s.nulls, "nulls", "remove", "")
	flags.StringVar(&s.equality, "equality", "semantic", "")
	flags.Var(&s.ignore, "ignore", "")
	flags.Var(&s.handover, "handover", "")
}

// mergeFlags are those of diff and merge.
func (s *settings) mergeFlags(flags *flag.FlagSet) {
	s.planFlags(flags)
	flags.StringVar(&s.model, "model", "", "")
	flags.StringVar(&s.dialect, "dialect", "", "")
	flags.BoolVar(&s.infer, "infer", false, "")
}

var (
	policies = map[string]*merge.Policy{
		"apply": &merge.Apply, "strict": &merge.Strict, "update": &merge.Update, "branch": &merge.Branch,
	}
	models     = map[string]merge.Model{"strategic": merge.Strategic, "structured": merge.Structured, "plain": merge.Plain}
	nulls      = map[string]merge.Nulls{"remove": merge.NullRemoves, "keep": merge.NullStays, "reject": merge.NullFails}
	equalities = map[string]merge.Equality{"semantic": merge.Semantic, "exact": merge.Exact}
	patchTypes = map[string]merge.PatchType{"strategic": merge.StrategicPatch, "merge": merge.JSONMergePatch, "json": merge.JSONPatch}
	dialects   = map[string]merge.PatchType{
		"strategic": merge.StrategicPatch, "merge": merge.JSONMergePatch, "json": merge.JSONPatch, "apply": merge.ApplyConfiguration,
	}
)

// choice returns what a flag's word stands for.
func choice[T any](flag, word string, of map[string]T) (v T, err error) {
	v, ok := of[word]
	if !ok {
		err = fmt.Errorf("no %s %q: want one of %s", flag, word, strings.Join(slices.Sorted(maps.Keys(of)), ", "))
	}
	return v, err
}

// options returns the options for the kind of an object, and the format of the patch.
// What is not said depends on the kind: a server takes strategic merge patches for
// built-in kinds only, and merges the lists of custom ones by their own keys.
func (c *command) options(doc *merge.Doc) (o merge.Options, format merge.PatchType, err error) {
	schema, custom, err := c.schema(doc.GVK())
	if err != nil {
		return o, 0, err
	}
	model, dialect := "strategic", "strategic"
	switch {
	case custom:
		model, dialect = "structured", "merge"
	case c.dialect == "apply":
		model = "structured"
	}
	o = merge.Options{Schema: schema, Ignore: c.ignore, HandOver: c.handover, InferKeys: c.infer}
	if o.Policy, o.Nulls, o.Equality, err = c.words(); err != nil {
		return o, 0, err
	}
	if o.Model, err = choice("model", or(c.model, model), models); err != nil {
		return o, 0, err
	}
	if o.Model != merge.Strategic {
		dialect = "merge"
	}
	format, err = choice("dialect", or(c.dialect, dialect), dialects)
	return o, format, err
}

// words returns what the flags of words stand for.
func (s *settings) words() (p *merge.Policy, n merge.Nulls, e merge.Equality, err error) {
	if p, err = choice("policy", s.policy, policies); err != nil {
		return
	}
	if n, err = choice("meaning of nulls", s.nulls, nulls); err != nil {
		return
	}
	e, err = choice("equality", s.equality, equalities)
	return
}

func or(word, otherwise string) string {
	if word == "" {
		return otherwise
	}
	return word
}

// schema finds the rules of a kind: in the CRDs given, or among the built-in ones.
func (c *command) schema(kind gvk.GroupVersionKind) (s *merge.Schema, custom bool, err error) {
	s = merge.Schemaless()
	if !c.schemaless {
		if s, custom, err = c.known(kind); err != nil {
			return nil, false, err
		}
	}
	for _, text := range c.rules {
		path, rule, ok := cutRule(text)
		if !ok {
			return nil, false, fmt.Errorf("rule %q: want PATH=RULE", text)
		}
		if s, err = s.WithRule(path, rule); err != nil {
			return nil, false, err
		}
	}
	return s, custom, nil
}

func (c *command) known(kind gvk.GroupVersionKind) (s *merge.Schema, custom bool, err error) {
	for _, file := range c.crds {
		docs, err := c.read(input{"crd", file})
		if err != nil {
			return nil, false, err
		}
		kinds, err := merge.SchemasFromCRD(docs[0])
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", file, err)
		}
		if s := kinds[kind]; s != nil {
			return s, true, nil
		}
	}
	builtin := merge.SchemaFor
	if c.kinds != nil {
		builtin = c.kinds
	}
	if s, err = builtin(kind); err != nil {
		c.warn("%v; maps are merged by field and lists replaced", err)
		return merge.Schemaless(), false, nil
	}
	return s, false, nil
}

// cutRule cuts PATH=RULE at the first = that is not in brackets.
func cutRule(text string) (path, rule string, ok bool) {
	depth, quoted := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' && (i == 0 || text[i-1] != '\\'):
			quoted = !quoted
		case quoted:
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '=' && depth == 0:
			return text[:i], text[i+1:], true
		}
	}
	return "", "", false
}

package inject

import (
	"fmt"
	"slices"
	"strings"

	"example.com/braid/internal/node"
	"example.com/braid/internal/schema"
	"example.com/braid/merge"
)

// Layout: a scalar is taken apart when a template is parsed (text, piece) and put together
// when it is injected (source, fill). The package documentation says what they look like.
//
// What always holds: what is put in is one string, or has been checked to be a number or
// boolean; and where a kubelet expands $(VAR) each $ of it is doubled, by the
// kubelet's own rule.

// Values are what placeholders stand for.
type Values struct {
	Namespace string // of the request; the object's own wins
	Name      string // where the object has none, as with generateName
	Given     map[string]string
}

// text is a scalar of a template, taken apart.
type text struct {
	at      node.Path // by index
	pieces  []piece
	convert string // "int", "bool" or ""
	expands bool   // a kubelet expands $(VAR) in it
	names   bool   // it names an element of a list
}

// piece is text as it is, or a placeholder if path is not empty.
type piece struct {
	plain     string
	path      node.Pattern
	source    string
	otherwise *string
}

// parseText takes a scalar apart. It is nil if there is no placeholder in it.
func parseText(s string) (*text, error) {
	if !strings.Contains(s, "@{") {
		return nil, nil
	}
	var out text
	plain := func(p string) {
		if n := len(out.pieces); n > 0 && out.pieces[n-1].path == nil {
			out.pieces[n-1].plain += p
		} else if p != "" {
			out.pieces = append(out.pieces, piece{plain: p})
		}
	}
	for {
		before, rest, ok := strings.Cut(s, "@{")
		if !ok {
			plain(s)
			break
		}
		if strings.HasSuffix(before, "@") {
			plain(before + "{")
			s = rest
			continue
		}
		plain(before)
		end := placeholderEnd(rest)
		if end < 0 {
			return nil, fmt.Errorf("@{ without }; write a plain one as @@{")
		}
		p, convert, err := parsePlaceholder(rest[:end])
		if err != nil {
			return nil, err
		}
		out.pieces, s = append(out.pieces, p), rest[end+1:]
		if convert != "" {
			out.convert = convert
		}
	}
	if out.convert != "" && len(out.pieces) > 1 {
		return nil, fmt.Errorf("|%s converts whole scalars only", out.convert)
	}
	return &out, nil
}

// placeholderEnd returns where the } is that is not within quotes, or -1.
func placeholderEnd(s string) int {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '}' && !quoted:
			return i
		}
	}
	return -1
}

func parsePlaceholder(s string) (p piece, convert string, err error) {
	p.source = s
	for _, c := range [...]string{"int", "bool"} {
		if rest, ok := strings.CutSuffix(s, "|"+c); ok {
			s, convert = rest, c
		}
	}
	s, otherwise, ok := strings.Cut(s, ":-")
	if ok {
		p.otherwise = &otherwise
	}
	if p.path, err = node.ParsePattern(s); err != nil {
		return p, "", fmt.Errorf("placeholder @{%s}: %v", p.source, err)
	}
	var fields []string
	for _, step := range p.path {
		if step.Elem || step.Any {
			return p, "", fmt.Errorf("placeholder @{%s}: write field names as [\"name\"]", p.source)
		}
		fields = append(fields, step.Field)
	}
	known := len(fields) == 2 && (fields[0] == "values" || fields[0] == "pod" && slices.Contains([]string{"name", "namespace", "serviceAccountName"}, fields[1])) ||
		len(fields) == 3 && fields[0] == "pod" && (fields[1] == "labels" || fields[1] == "annotations")
	if !known {
		return p, "", fmt.Errorf("placeholder @{%s}: want pod.name, pod.namespace, pod.serviceAccountName, pod.labels[\"…\"], pod.annotations[\"…\"] or values.…", p.source)
	}
	return p, convert, nil
}

// source finds the values of placeholders.
type source struct {
	pod    *value // as it is without what was injected
	object *value
	Values
}

func (s *source) lookup(p *piece) (string, bool) {
	field := p.path[len(p.path)-1].Field
	if p.path[0].Field == "values" {
		v, ok := s.Given[field]
		return v, ok
	}
	found, instead := "", ""
	switch p.path[1].Field {
	case "name":
		found, instead = s.object.look("metadata", "name").text(), s.Name
	case "namespace":
		found, instead = s.object.look("metadata", "namespace").text(), s.Namespace
	case "serviceAccountName":
		found, instead = s.pod.look("spec", "serviceAccountName").text(), "default"
	default:
		v := s.pod.look("metadata", p.path[1].Field, field)
		return v.text(), v != nil && v.kind == node.String
	}
	if found == "" {
		found = instead
	}
	return found, found != ""
}

// fill returns the scalar with values.
func (x *text) fill(s *source) (*value, error) {
	var b strings.Builder
	for i := range x.pieces {
		p := &x.pieces[i]
		if p.path == nil {
			b.WriteString(p.plain)
			continue
		}
		v, ok := s.lookup(p)
		if !ok {
			if p.otherwise == nil {
				return nil, fmt.Errorf("@{%s}", p.source)
			}
			v = *p.otherwise
		}
		if x.expands {
			v = strings.ReplaceAll(v, "$", "$$")
		}
		b.WriteString(strings.ToValidUTF8(v, "\uFFFD"))
	}
	out := b.String()
	if x.convert == "" {
		return textValue(out), nil
	}
	t, err := node.Parse([]byte(out), node.Limits{})
	switch {
	case x.convert == "bool" && out != "true" && out != "false":
		return nil, fmt.Errorf("@{%s}: not true or false", x.pieces[0].source)
	case x.convert == "int" && (err != nil || t.Kind(0) != node.Number || strings.ContainsAny(out, ".eE \n\t\r")):
		return nil, fmt.Errorf("@{%s}: not a whole number", x.pieces[0].source)
	}
	return valueAt(t, 0), nil
}

// textsOf finds the scalars of a pod template that have placeholders. O(size).
func textsOf(t *node.Tree) (out []text, err error) {
	for i := range node.ID(t.Len()) {
		if t.Kind(i) != node.String {
			continue
		}
		x, err := parseText(t.Text(i))
		if err == nil && x != nil {
			x.at = t.Path(i)
			x.expands, x.names = expands(x.at), namesElement(x.at)
			for k, p := range x.pieces {
				if x.expands && k+1 < len(x.pieces) && p.path == nil && strings.HasSuffix(p.plain, "$") {
					err = fmt.Errorf("a $ before a placeholder")
				}
			}
			out = append(out, *x)
		}
		if err != nil {
			return nil, templateError(t.Path(i), "%v", err)
		}
	}
	return out, nil
}

// expands reports whether a kubelet expands $(VAR) at a path of a pod template.
func expands(at node.Path) bool {
	return slices.ContainsFunc(at, func(s node.Step) bool {
		return s.Field == "args" || s.Field == "command" || s.Field == "value" || s.Field == "subPathExpr"
	})
}

// namesElement reports whether what stands at a path of a pod template names an element of
// a list, and so must not be blank.
func namesElement(at node.Path) bool {
	list, t := schema.Unknown, podType()
	for _, s := range at[:len(at)-1] {
		if list = t; s.Elem {
			t = elemType(t)
		} else {
			t = fieldType(t, s.Field)
		}
	}
	return slices.ContainsFunc(keysOf(list), func(k schema.Key) bool { return k.Name == at[len(at)-1].Field && keyDefault(k) == "" })
}

// fill returns a template with values in the place of placeholders. O(size of the maps and
// lists around those).
func fill(t *node.Tree, texts []text, s *source) (*value, error) {
	root := valueAt(t, 0)
	for i := range texts {
		x, leaf := &texts[i], root
		for _, step := range x.at {
			if step.Elem {
				leaf = leaf.elements()[step.Index]
			} else {
				leaf = leaf.get(step.Field)
			}
		}
		v, err := x.fill(s)
		if err != nil {
			return nil, &merge.Error{Doc: "template", Path: x.at, Offset: -1, Rule: ErrValue, Detail: err.Error()}
		}
		if *leaf = *v; x.names && v.text() == "" && v.kind == node.String {
			return nil, templateError(x.at, "blank; it names the element")
		}
	}
	return root, nil
}

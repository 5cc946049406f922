package node

import (
	"fmt"
	"strconv"
	"strings"
)

// Pattern names positions of a document: a Path in which a step may stand for any.
type Pattern []PatternStep

// PatternStep is one move of a Pattern.
type PatternStep struct {
	Step
	Any bool // any field, or any element
}

// ParsePattern reads what Path.String writes, and * for any field or [*] for any
// element: spec.ports[*].nodePort, metadata.annotations["example.com/a"],
// spec.containers[name=app].env[name=A,value="x y"], spec.finalizers[=a]. "(root)" and
// "" name the root. The error says where the text is wrong: "byte 5: want ]".
func ParsePattern(text string) (Pattern, error) {
	p := patternParser{text: text}
	if text == "(root)" || text == "" {
		return nil, nil
	}
	for p.at < len(text) && p.err == nil {
		switch c := text[p.at]; {
		case c == '[':
			p.at++
			p.brackets()
		case c == '.' && len(p.out) > 0:
			p.at++
			p.field()
		case len(p.out) == 0:
			p.field()
		default:
			p.fail("want . or [")
		}
	}
	return p.out, p.err
}

type patternParser struct {
	text string
	at   int
	out  Pattern
	err  error
}

func (p *patternParser) fail(what string) {
	if p.err == nil {
		p.err = fmt.Errorf("byte %d: %s", p.at, what)
	}
}

// field reads a plain name, or *.
func (p *patternParser) field() {
	n := strings.IndexAny(p.text[p.at:], ".[")
	if n < 0 {
		n = len(p.text) - p.at
	}
	name := p.text[p.at : p.at+n]
	switch {
	case name == "*":
		p.out = append(p.out, PatternStep{Any: true})
	case plain(name):
		p.out = append(p.out, PatternStep{Step: Step{Field: name}})
	default:
		p.fail("want the name of a field; write an unusual one as [\"name\"]")
	}
	p.at += n
}

// brackets reads what follows an opening bracket: a quoted field, *, an index, or keys.
func (p *patternParser) brackets() {
	rest := p.text[p.at:]
	digits, _, _ := strings.Cut(rest, "]")
	index, err := strconv.Atoi(digits)
	var step PatternStep
	switch {
	case strings.HasPrefix(rest, "*]"):
		step = PatternStep{Step{Elem: true}, true}
		p.at++
	case strings.HasPrefix(rest, `"`):
		start := p.at
		if step.Field = p.quoted(); at(p.text, p.at) == '=' {
			p.at = start
			step.Step = Step{Elem: true, Keys: p.keys()}
		}
	case err == nil && strconv.Itoa(index) == digits && index >= 0:
		step.Step = Step{Elem: true, Index: index}
		p.at += len(digits)
	default:
		step.Step = Step{Elem: true, Keys: p.keys()}
	}
	p.out = append(p.out, step)
	p.close()
}

func (p *patternParser) close() {
	if p.err == nil && at(p.text, p.at) != ']' {
		p.fail("want ]")
	}
	p.at++
}

// keys reads name=value pairs; a set has one value without a name.
func (p *patternParser) keys() (out []KeyPair) {
	for p.err == nil {
		k := KeyPair{Name: p.keyText("=],")}
		if at(p.text, p.at) != '=' {
			p.fail("want an index, *, or name=value")
			return nil
		}
		p.at++
		k.Value = p.keyText(",]")
		out = append(out, k)
		if at(p.text, p.at) != ',' {
			break
		}
		p.at++
	}
	return out
}

// keyText reads a name or value, quoted or up to a byte of end.
func (p *patternParser) keyText(end string) string {
	if at(p.text, p.at) == '"' {
		return p.quoted()
	}
	n := strings.IndexAny(p.text[p.at:], end)
	if n < 0 {
		n = len(p.text) - p.at
	}
	text := p.text[p.at : p.at+n]
	p.at += n
	return text
}

// quoted reads a Go string.
func (p *patternParser) quoted() string {
	q, err := strconv.QuotedPrefix(p.text[p.at:])
	if err != nil {
		p.fail("a quoted name has no end")
		return ""
	}
	p.at += len(q)
	s, _ := strconv.Unquote(q) // QuotedPrefix has checked it
	return s
}

// String writes p as ParsePattern reads it.
func (p Pattern) String() string {
	if len(p) == 0 {
		return Path(nil).String()
	}
	var b strings.Builder
	for _, s := range p {
		text := Path{s.Step}.String()
		switch {
		case s.Any && s.Elem:
			text = "[*]"
		case s.Any:
			text = "*"
		}
		if b.Len() > 0 && text[0] != '[' {
			b.WriteByte('.')
		}
		b.WriteString(text)
	}
	return b.String()
}

// Matches reports whether p names i. O(depth), and at a step by index O(elements).
func (p Pattern) Matches(t *Tree, i ID) bool {
	for n := len(p) - 1; n >= 0; n-- {
		parent := t.nodes[i].parent
		if parent == None || !p[n].matches(t, parent, i) {
			return false
		}
		i = parent
	}
	return t.nodes[i].parent == None
}

// MatchesPart reports whether p names the part i of the map or list that stands at parent in u:
// the way there is u's. Costs what Matches does.
func (p Pattern) MatchesPart(u *Tree, parent ID, t *Tree, i ID) bool {
	n := len(p) - 1
	return n >= 0 && p[n].matches(t, t.nodes[i].parent, i) && p[:n].Matches(u, parent)
}

// MatchesField reports whether p names a field of the map i, which need not have it. Costs what
// Matches does.
func (p Pattern) MatchesField(t *Tree, i ID, name string) bool {
	n := len(p) - 1
	return n >= 0 && (p[n].Any || !p[n].Elem && p[n].Field == name) && p[:n].Matches(t, i)
}

func (s *PatternStep) matches(t *Tree, parent, i ID) bool {
	switch inMap := t.nodes[parent].kind == Map; {
	case s.Any:
		return inMap || s.Elem
	case inMap != !s.Elem:
		return false
	case inMap:
		return t.Key(i) == s.Field
	case len(s.Keys) == 0:
		kids := t.Kids(parent)
		return s.Index < len(kids) && kids[s.Index] == i
	}
	for _, k := range s.Keys {
		f := i
		if k.Name != "" {
			f = t.Field(i, k.Name)
		}
		if f == None || !t.reads(f, k.Value) {
			return false
		}
	}
	return true
}

// reads reports whether the scalar i is what text says; numbers may be spelled in another way.
func (t *Tree) reads(i ID, text string) bool {
	switch t.nodes[i].kind {
	case Null, List, Map:
		return false
	case Number:
		return t.Text(i) == text || isNumber(text) && NumberEqual(t.Text(i), text)
	}
	return t.Text(i) == text
}

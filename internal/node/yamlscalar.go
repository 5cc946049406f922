package node

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The rules of this file are those of go.yaml.in/yaml/v2 (resolve.go), on which
// sigs.k8s.io/yaml stands: YAML 1.1 without numbers to the base 60. A kubectl user
// gets the same types here, but exact numbers.

// Problems of scalars.
const (
	badTag    = "a value that its tag does not fit"
	badBase64 = "a !!binary value that is not base64"
	badBinary = "a !!binary value that is not text"
	notFinite = "NaN and infinity have no JSON form"
)

func ruleOf(problem string) error {
	if problem == notFinite || problem == badBinary {
		return ErrValue // good YAML
	}
	return ErrYAML
}

// isMerge reports whether a key is the merge key.
func isMerge(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "<<" && (n.Style == 0 || n.Tag == "!!merge")
}

// resolve returns the JSON value that a scalar stands for, or what is wrong with it.
func resolve(n *yaml.Node) (kind Kind, text, problem string) {
	if n.Style&yaml.TaggedStyle == 0 {
		if n.Style != 0 {
			return String, n.Value, ""
		}
		return resolvePlain(n.Value)
	}
	want := Null
	switch n.Tag {
	case "!!null":
	case "!!bool":
		want = Bool
	case "!!int", "!!float":
		want = Number
	case "!!binary":
		data, err := base64.StdEncoding.DecodeString(n.Value)
		if err != nil {
			return String, "", badBase64
		}
		if !utf8.Valid(data) {
			return String, "", badBinary
		}
		return String, string(data), ""
	default: // !!str, timestamps and tags of the author's own
		return String, n.Value, ""
	}
	kind, text, problem = resolvePlain(n.Value)
	if problem == "" && (kind != want || n.Tag == "!!int" && !isInteger(text)) {
		problem = badTag
	}
	return kind, text, problem
}

// resolvePlain is resolve for a scalar without quotes and tag.
func resolvePlain(s string) (kind Kind, text, problem string) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return Null, "null", ""
	case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return Bool, "true", ""
	case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return Bool, "false", ""
	case ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF":
		return Number, "", notFinite
	}
	if text, ok := yamlNumber(s); ok {
		return Number, text, ""
	}
	return String, s, ""
}

// yamlNumber writes s as JSON, if it is a number. One that a float64 cannot reach,
// such as the commit 12e4567, is none.
func yamlNumber(s string) (string, bool) {
	switch c := s[0]; {
	case c == '.': // underscores as in Go: between digits only
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			return "", false
		}
		s = strings.ReplaceAll(s, "_", "")
	case '0' <= c && c <= '9' || c == '+' || c == '-':
		s = strings.ReplaceAll(s, "_", "")
		if text, ok := yamlInteger(s); ok {
			return text, true
		}
	default:
		return "", false
	}
	text, ok := yamlDecimal(s)
	if !ok {
		return "", false
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return "", false
	}
	return text, true
}

// yamlInteger reads what fits 64 bits: decimal, or with a prefix 0, 0o, 0x or 0b.
func yamlInteger(s string) (string, bool) {
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		if u, err := strconv.ParseUint(s, 0, 64); err == nil {
			return strconv.FormatUint(u, 10), true
		}
		bits, ok := strings.CutPrefix(s, "0b") // a sign may follow it in yaml.v2
		if n, err = strconv.ParseInt(bits, 2, 64); !ok || err != nil {
			return "", false
		}
	}
	if s == "-0" {
		return s, true
	}
	return strconv.FormatInt(n, 10), true
}

// yamlDecimal writes a decimal number as JSON does, with the same digits: no plus
// sign, no zeros before the first digit but one, digits on both sides of a point.
func yamlDecimal(s string) (string, bool) {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	point := digits(s, i)
	whole, rest := s[i:point], s[point:]
	frac := ""
	if rest != "" && rest[0] == '.' {
		end := digits(rest, 1)
		frac, rest = rest[1:end], rest[end:]
	}
	if whole == "" && frac == "" {
		return "", false
	}
	if rest != "" {
		j := 1
		if j < len(rest) && (rest[j] == '+' || rest[j] == '-') {
			j++
		}
		if rest[0]|0x20 != 'e' || j == len(rest) || digits(rest, j) != len(rest) {
			return "", false
		}
	}
	out := make([]byte, 0, len(s)+1)
	if s[0] == '-' {
		out = append(out, '-')
	}
	if whole = strings.TrimLeft(whole, "0"); whole == "" {
		whole = "0"
	}
	out = append(out, whole...)
	if frac != "" {
		out = append(out, '.')
		out = append(out, frac...)
	}
	return string(append(out, rest...)), true
}

func isInteger(s string) bool { return !strings.ContainsAny(s, ".eE") }

// key returns the text of a map's key. Numbers and booleans become strings, as in
// sigs.k8s.io/yaml, which writes decimals as short as a float32 allows: 1.10 is
// "1.1". Where that would be another number, the digits stay as they are.
func (b *yamlBuilder) key(at ID, n *yaml.Node) (string, bool) {
	t, ok := b.target(at, n)
	if !ok {
		return "", false
	}
	if t.Kind != yaml.ScalarNode {
		return "", b.refuse(at, ErrYAML, "a map or list for a key")
	}
	kind, text, problem := resolve(t)
	switch {
	case problem == notFinite:
		return strings.ToLower(strings.TrimPrefix(t.Value, "+")), true
	case problem != "":
		return "", b.refuse(at, ruleOf(problem), "%s", problem)
	case kind == Null:
		return "", b.refuse(at, ErrYAML, "null for a key")
	case kind == Number:
		return yamlKey(text), true
	}
	return text, true
}

func yamlKey(number string) string {
	if isInteger(number) {
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			return strconv.FormatInt(n, 10)
		}
		if _, err := strconv.ParseUint(number, 10, 64); err == nil {
			return number
		}
	}
	f, _ := strconv.ParseFloat(number, 64)
	if s := strconv.FormatFloat(f, 'g', -1, 32); s[len(s)-1] != 'f' && NumberEqual(number, s) {
		return s
	}
	return number
}

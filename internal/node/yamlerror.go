package node

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const unreadable = "cannot be read"

// yamlError turns an error of the yaml package into one that holds nothing of the
// document: only messages that are known to be constant pass.
func yamlError(err error, text []byte) *Error {
	msg, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		if num, rest, ok := strings.Cut(rest, ": "); ok {
			line, _ = strconv.Atoi(num)
			msg = rest
		}
	}
	e := &Error{Offset: -1, Rule: ErrYAML, Detail: unreadable}
	switch part, known := yamlMessages[msg]; {
	case strings.HasPrefix(msg, "exceeded max depth of "):
		e.Rule, e.Detail = ErrLimit, "nested too deep"
		line = max(line, 1)
	case strings.HasPrefix(msg, "unknown anchor "):
		e.Detail = "an alias of an anchor that is not there"
	case !known:
	case part == inReader:
		e.Detail, line = msg, badLine(text)
	case part == inScanner:
		e.Detail, line = msg, max(line, 1)
	case part == inParser:
		e.Detail, line = msg, line+1 // it counts from 0, unlike the scanner
	}
	if line > 0 {
		e.Detail = fmt.Sprintf("line %d: %s", line, e.Detail)
	}
	return e
}

// badLine returns the line of the first character that YAML does not allow, or 0.
func badLine(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		ok := r == '\t' || r == '\n' || r == '\r' || r == 0x85 ||
			' ' <= r && r <= '~' || 0xA0 <= r && r <= 0xFFFD || r > 0xFFFF
		if !ok || r == utf8.RuneError && n == 1 {
			return 1 + bytes.Count(text[:i], []byte{'\n'})
		}
		i += n
	}
	return 0
}

type yamlPart uint8

const (
	inReader yamlPart = iota + 1
	inScanner
	inParser
)

// yamlMessages has the constant messages of go.yaml.in/yaml/v3, and which part of it
// says them.
var yamlMessages = map[string]yamlPart{
	"control characters are not allowed": inReader,
	"expected low surrogate area":        inReader,
	"incomplete UTF-16 character":        inReader,
	"incomplete UTF-16 surrogate pair":   inReader,
	"incomplete UTF-8 octet sequence":    inReader,
	"invalid Unicode character":          inReader,
	"invalid leading UTF-8 octet":        inReader,
	"invalid length of a UTF-8 sequence": inReader,
	"invalid trailing UTF-8 octet":       inReader,
	"unexpected low surrogate area":      inReader,

	"block sequence entries are not allowed in this context":       inScanner,
	"could not find expected ':'":                                  inScanner,
	"could not find expected directive name":                       inScanner,
	"did not find URI escaped octet":                               inScanner,
	"did not find expected '!'":                                    inScanner,
	"did not find expected alphabetic or numeric character":        inScanner,
	"did not find expected comment or line break":                  inScanner,
	"did not find expected digit or '.' character":                 inScanner,
	"did not find expected hexdecimal number":                      inScanner,
	"did not find expected tag URI":                                inScanner,
	"did not find expected version number":                         inScanner,
	"did not find expected whitespace":                             inScanner,
	"did not find expected whitespace or line break":               inScanner,
	"did not find the expected '>'":                                inScanner,
	"found a tab character that violates indentation":              inScanner,
	"found a tab character where an indentation space is expected": inScanner,
	"found an incorrect leading UTF-8 octet":                       inScanner,
	"found an incorrect trailing UTF-8 octet":                      inScanner,
	"found an indentation indicator equal to 0":                    inScanner,
	"found character that cannot start any token":                  inScanner,
	"found extremely long version number":                          inScanner,
	"found invalid Unicode character escape code":                  inScanner,
	"found unexpected document indicator":                          inScanner,
	"found unexpected end of stream":                               inScanner,
	"found unexpected non-alphabetical character":                  inScanner,
	"found unknown directive name":                                 inScanner,
	"found unknown escape character":                               inScanner,
	"mapping keys are not allowed in this context":                 inScanner,
	"mapping values are not allowed in this context":               inScanner,

	"did not find expected ',' or ']'":       inParser,
	"did not find expected ',' or '}'":       inParser,
	"did not find expected '-' indicator":    inParser,
	"did not find expected <document start>": inParser,
	"did not find expected <stream-start>":   inParser,
	"did not find expected key":              inParser,
	"did not find expected node content":     inParser,
	"found duplicate %TAG directive":         inParser,
	"found duplicate %YAML directive":        inParser,
	"found incompatible YAML document":       inParser,
	"found undefined tag handle":             inParser,
}

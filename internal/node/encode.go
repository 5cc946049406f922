package node

// Append appends the canonical JSON of a subtree: no space, maps by key in byte
// order, numbers as written, strings with the fewest escapes. O(size).
func (t *Tree) Append(dst []byte, i ID) []byte {
	return t.append(dst, i, false)
}

// AppendSource is Append for text that is to be read again: lists and maps are as their author
// wrote them, where the tree still has that.
func (t *Tree) AppendSource(dst []byte, i ID) []byte {
	if from, to := t.source(i); to > from {
		return append(dst, t.src[from:to]...)
	}
	return t.Append(dst, i)
}

// AppendDeclared is Append without the null fields of maps, at any depth: what
// desired declares, where null declares absence. Nulls in lists are data.
func (t *Tree) AppendDeclared(dst []byte, i ID) []byte {
	return t.append(dst, i, true)
}

// JSON returns the canonical JSON of the document.
func (t *Tree) JSON() []byte {
	return t.Append(make([]byte, 0, len(t.src)+len(t.extra)), 0)
}

func (t *Tree) append(dst []byte, i ID, dropNull bool) []byte {
	n := &t.nodes[i]
	if n.flags&canon != 0 && !(dropNull && t.nulls) {
		return t.appendText(dst, i)
	}
	switch n.kind {
	case String:
		if n.flags&rawText != 0 {
			return AppendQuoted(dst, t.Text(i))
		}
		return appendString(dst, t.text(n.val), n.flags&escText != 0)
	case List:
		dst = append(dst, '[')
		for k, kid := range t.Kids(i) {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = t.append(dst, kid, dropNull)
		}
		return append(dst, ']')
	case Map:
		dst = append(dst, '{')
		first := true
		for _, kid := range t.Kids(i) {
			if dropNull && t.nodes[kid].kind == Null {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = t.AppendKey(dst, kid)
			dst = t.append(dst, kid, dropNull)
		}
		return append(dst, '}')
	}
	return append(dst, t.text(n.val)...)
}

// appendText appends what the document has for a node that is canonical there.
func (t *Tree) appendText(dst []byte, i ID) []byte {
	n := &t.nodes[i]
	if n.kind == String {
		return append(append(append(dst, '"'), t.text(n.val)...), '"')
	}
	return append(dst, t.src[n.start:t.textEnd(i)]...)
}

// AppendKey appends the key of a field and a colon.
func (t *Tree) AppendKey(dst []byte, i ID) []byte {
	n := &t.nodes[i]
	dst = appendString(dst, t.text(n.key), n.flags&escKey != 0)
	return append(dst, ':')
}

// AppendQuoted appends s as a JSON string. Invalid UTF-8 must not reach it.
func AppendQuoted[T string | []byte](dst []byte, s T) []byte {
	return appendString(dst, s, needsEscape(s))
}

func needsEscape[T string | []byte](s T) bool {
	for i := range len(s) {
		if class[s[i]] == 1 {
			return true
		}
	}
	return false
}

func appendString[T string | []byte](dst []byte, s T, esc bool) []byte {
	dst = append(dst, '"')
	if !esc {
		dst = append(dst, s...)
		return append(dst, '"')
	}
	const hex = "0123456789abcdef"
	start := 0
	for i := range len(s) {
		c := s[i]
		if class[c] != 1 {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

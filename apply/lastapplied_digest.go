package apply

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"example.com/braid/internal/node"
	"example.com/braid/internal/secret"
	"example.com/braid/merge"
)

// A digest is a text that begins with digestPrefix. Where digests stand, every text that
// begins so is one: the data of a Secret is base64, which has no colon, and of long texts
// those that begin so are replaced too, however short.
const digestPrefix = "sha256:"

// longText is what a text must have to be longer than its digest by a good deal.
const longText = 64

// digest returns the digest of a list of texts.
func (r Record) digest(texts ...string) string {
	h := hmac.New(sha256.New, r.DigestKey)
	for _, s := range texts {
		h.Write([]byte(strconv.Itoa(len(s))))
		h.Write([]byte{':'})
		h.Write([]byte(s))
	}
	return digestPrefix + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
}

// hide returns a Secret with its stringData in data, and digests there.
func (r Record) hide(t *node.Tree) (*node.Tree, error) {
	t = secret.Fold(t)
	refuse := func(at node.ID) error {
		return &merge.Error{Doc: "desired", Path: t.Path(at), Offset: -1, Rule: merge.ErrType, Detail: "a Secret holds no " + t.Kind(at).String() + " there"}
	}
	for _, name := range [...]string{"data", "stringData"} {
		f := t.Field(0, name)
		if f == node.None {
			continue
		}
		if k := t.Kind(f); k != node.Map && k != node.Null {
			return nil, refuse(f)
		}
		for _, i := range t.Kids(f) {
			if k := t.Kind(i); k != node.String && k != node.Null {
				return nil, refuse(i)
			}
		}
	}
	return r.inData(t, func(key, text string) string {
		if text = sameBytes(text); text == "" {
			return ""
		}
		return r.digest(nameOf(t), key, text)
	})
}

// reveal is the inverse of hide, as far as one of the Secrets others has the values.
func (r Record) reveal(t *node.Tree, others []*node.Tree) (*node.Tree, error) {
	for k := range others {
		others[k] = secret.Fold(others[k])
	}
	return r.inData(t, func(key, text string) string {
		if !strings.HasPrefix(text, digestPrefix) {
			return text
		}
		for _, u := range others {
			if i := u.Lookup("data", key); i != node.None && u.Kind(i) == node.String && r.digest(nameOf(t), key, sameBytes(u.Text(i))) == text {
				return u.Text(i)
			}
		}
		return text // no base64, and so no value of a Secret
	})
}

// inData returns a Secret with other texts in data.
func (r Record) inData(t *node.Tree, text func(key, text string) string) (*node.Tree, error) {
	data := t.Field(0, "data")
	if data == node.None || t.Kind(data) != node.Map {
		return t, nil
	}
	texts := writer{tree: t, scalar: func(dst []byte, i node.ID) []byte {
		if t.Kind(i) != node.String || t.Parent(i) != data {
			return t.Append(dst, i)
		}
		return node.AppendQuoted(dst, text(t.Key(i), t.Text(i)))
	}}
	return node.Parse(writer{tree: t}.mapWith(nil, 0, field{"data", func(dst []byte) []byte { return texts.value(dst, data) }}), node.Limits{})
}

// sameBytes returns the one spelling in base64 of what text says, or text if it is no base64.
func sameBytes(text string) string {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return text
	}
	return base64.StdEncoding.EncodeToString(b)
}

func nameOf(t *node.Tree) string {
	if i := t.Lookup("metadata", "name"); i != node.None {
		return t.Text(i)
	}
	return ""
}

// brief returns an object with digests in the place of long texts, and of the data of a
// Secret.
func (r Record) brief(t *node.Tree) (*node.Tree, error) {
	if secret.Is(t) && !r.HideSecrets {
		var err error
		if t, err = r.hide(t); err != nil {
			return nil, err
		}
	}
	return inTexts(t, func(text string) string {
		if !isLong(text) {
			return text
		}
		return r.digest(text)
	})
}

// inTexts returns an object with other texts, but for the data of a Secret.
func inTexts(t *node.Tree, text func(string) string) (*node.Tree, error) {
	w := writer{tree: t, scalar: func(dst []byte, i node.ID) []byte {
		if t.Kind(i) != node.String {
			return t.Append(dst, i)
		}
		return node.AppendQuoted(dst, text(t.Text(i)))
	}}
	if data := t.Field(0, "data"); data != node.None && secret.Is(t) {
		return node.Parse(w.mapWith(nil, 0, field{"data", func(dst []byte) []byte { return t.Append(dst, data) }}), node.Limits{})
	}
	return node.Parse(w.value(nil, 0), node.Limits{})
}

// isLong reports whether a digest stands for a text. It does for none that could equal
// another text: base64 with line breaks, or with loose bits at its end; a quantity or
// duration.
func isLong(text string) bool {
	if strings.HasPrefix(text, digestPrefix) {
		return true
	}
	return len(text) >= longText && sameBytes(text) == text && strings.Trim(text, "0123456789+-.eEkKMGTPimnuµsh") != ""
}

// resolve returns what a record says, with values for digests where live or desired, which
// may be nil, has them.
func (r Record) resolve(was record, live *merge.Doc, desired *node.Tree) (*node.Tree, error) {
	if was.tree == nil || !was.brief && !secret.Is(was.tree) {
		return was.tree, nil
	}
	t, err := parse("live", live)
	if err != nil {
		return nil, err
	}
	others := []*node.Tree{t}
	if desired != nil {
		others = []*node.Tree{desired, t} // desired spells values as last may have
	}
	last := was.tree
	if was.brief {
		if last, err = r.lengthen(last, others); err != nil {
			return nil, err
		}
	}
	if secret.Is(last) {
		return r.reveal(last, others)
	}
	return last, nil
}

// lengthen is the inverse of brief, as far as one of others has the texts. A digest that
// stands for none of them becomes a text that none of them is.
func (r Record) lengthen(t *node.Tree, others []*node.Tree) (*node.Tree, error) {
	known, taken := map[string]string{}, map[string]bool{}
	for _, u := range others {
		for i := range node.ID(u.Len()) {
			if u.Kind(i) != node.String {
				continue
			}
			text := u.Text(i)
			if isLong(text) {
				known[r.digest(text)] = text
			}
			taken[text] = taken[text] || strings.HasPrefix(text, digestPrefix)
		}
	}
	return inTexts(t, func(text string) string {
		if !strings.HasPrefix(text, digestPrefix) {
			return text
		}
		if _, ok := known[text]; !ok {
			other := text
			for taken[other] {
				other += "~"
			}
			known[text] = other
		}
		return known[text]
	})
}

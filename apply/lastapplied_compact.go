package apply

import (
	"bytes"
	"fmt"

	"example.com/braid/internal/compact"
	"example.com/braid/internal/node"
)

// The compact form is, packed,
//
//	{"version":1,"digests":false,"last":{…}}
//
// in which digests says that they stand in the place of long texts. What compresses better
// in a later Go is not written again as long as it means the same.

// pack writes the compact form of a record.
func pack(last []byte, brief bool) string {
	return compact.Pack(fmt.Sprintf(`{"version":1,"digests":%t,"last":%s}`, brief, bytes.TrimSuffix(last, []byte("\n"))))
}

// unpack reads the compact form. It reads no more than node.DefaultLimits allow, whatever
// the text would become.
func unpack(text string) (last *node.Tree, brief bool, err error) {
	data, err := compact.Unpack(text, node.DefaultLimits.Bytes)
	if err != nil {
		return nil, false, err
	}
	t, err := node.Parse(data, node.Limits{})
	if err != nil {
		return nil, false, err
	}
	version, digests, value := t.Lookup("version"), t.Lookup("digests"), t.Lookup("last")
	switch {
	case version == node.None || t.Kind(version) != node.Number || !node.NumberEqual(t.Text(version), "1"):
		return nil, false, fmt.Errorf("not of version 1")
	case value == node.None:
		return nil, false, fmt.Errorf("without a document")
	}
	return t.Subtree(value), digests != node.None && t.Text(digests) == "true", nil
}

package apply

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"

	"example.com/braid/internal/node"
)

// The compact form is base64 of gzip of
//
//	{"version":1,"digests":false,"last":{…}}
//
// in which digests says that they stand in the place of long texts. gzip's header has no
// time, so the same object gives the same bytes; what compresses better in a later Go is
// not written again as long as it means the same.

// pack writes the compact form of a record.
func pack(last []byte, brief bool) string {
	return packText(fmt.Sprintf(`{"version":1,"digests":%t,"last":%s}`, brief, bytes.TrimSuffix(last, []byte("\n"))))
}

func packText(envelope string) string {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is valid
	}
	_, _ = io.WriteString(z, envelope) // a bytes.Buffer takes all that is written
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// unpack reads the compact form. It reads no more than node.DefaultLimits allow, whatever
// the text would become.
func unpack(text string) (last *node.Tree, brief bool, err error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, false, fmt.Errorf("not base64: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, false, fmt.Errorf("not compressed: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(z, int64(node.DefaultLimits.Bytes)+1)) // Parse refuses what is longer
	if err != nil {
		return nil, false, fmt.Errorf("not compressed: %w", err)
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

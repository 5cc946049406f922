// Package compact writes long text shortly into an annotation: base64 of gzip. gzip's header
// has no time, so the same text gives the same bytes, until Go compresses better.
package compact

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
)

// Pack returns the short form of a text.
func Pack(text string) string {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is valid
	}
	_, _ = io.WriteString(z, text) // a bytes.Buffer takes all that is written
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// Unpack returns the text of a short form, of at most so many bytes: no more are read,
// whatever it would become. Errors hold nothing of it.
func Unpack(packed string, most int) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		return nil, fmt.Errorf("not base64: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("not compressed: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, int64(most)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("not compressed: %w", err)
	case len(text) > most:
		return nil, fmt.Errorf("over a limit: more than %d bytes", most)
	}
	return text, nil
}

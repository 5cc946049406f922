package bench

import (
	"encoding/json"
	"testing"

	"example.com/braid/internal/node"
)

func BenchmarkParse(b *testing.B) {
	for _, c := range Cases() {
		b.Run("case="+c.Name+"/peer=braid", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.Live)))
			for b.Loop() {
				if _, err := node.Parse(c.Live, node.Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("case="+c.Name+"/peer=valid", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(c.Live)))
			for b.Loop() {
				if !json.Valid(c.Live) {
					b.Fatal()
				}
			}
		})
	}
}

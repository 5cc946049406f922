package memory_test

import (
	"testing"

	"example.com/braid/apply/memory"
	"example.com/braid/internal/conformance"
)

func TestConformance(t *testing.T) { conformance.Run(t, memory.New(memory.Options{})) }

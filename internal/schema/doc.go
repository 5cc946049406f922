// Package schema holds the rules by which values merge: a graph of types, each with
// a strategic and a structured rule.
//
//	OpenAPI v3 ──► ReadOpenAPI ──► EncodeTable ──► builtin.bin ──► Builtin ─┐
//	of a server ─► ReadKinds ───────────────────────────────────────────────┤
//	CRDs ────────► ReadCRD ─────────────────────────────────────────────────┼─► Schema ─► Override
//	Go structs ──► FromType ────────────────────────────────────────────────┤
//	nothing ─────► None ────────────────────────────────────────────────────┘
//
// The two rules of a type differ in 81 of the 663 list fields of the built-in API,
// and in 135 maps and structs: ports of a Service are named by port under one and by
// port and protocol under the other. Versions of one kind differ too. So a rule
// belongs to a field of a version, never to the name of a field.
//
// Strategic rules are those of apimachinery's strategicpatch, which an API server takes
// from struct tags; structured rules those of kube-openapi's schemaconv, which it takes
// from its OpenAPI document. Tests hold every rule of the table against both.
//
// A source that no graph can be made of is an error with ErrSchema, the path in it and
// what is wrong. errors.go has it; rules.go has the rules of one place, and build.go
// what can be done only when all shapes are known.
//
// Always true of a graph that a source has returned:
//
//   - it does not change any more, and may be shared;
//   - Fields are sorted by name, and no name stands twice;
//   - a List has an Elem, and only maps and lists have one, or what an override has
//     made a map of: it stays Any, for the rest of it may still be anything;
//   - a Keyed rule has keys, a strategic one exactly one, unless Served says that it is
//     not the server's;
//   - scalars have the zero Rule, lists never a Granular one.
package schema

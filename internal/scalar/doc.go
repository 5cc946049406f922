// Package scalar compares scalars by what they mean: two spellings of one quantity,
// duration, time or byte string are equal.
//
// Arguments are the text of a JSON string, or the digits of a JSON number. A text that
// is not of the type equals only itself. Each relation is an equivalence. Nothing
// allocates on the usual texts, and nothing costs more than the text is long, whatever
// an exponent says.
package scalar

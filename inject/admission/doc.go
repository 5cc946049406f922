// Package admission serves injection to an API server: a webhook without a framework, a
// client or a cluster in it.
//
//	AdmissionReview ─► read ─► Decider ─► Mutator ─► check ─► AdmissionReview
//	 (v1, v1beta1)     4xx     a Reason   a patch     applied to the object as it came,
//	                                                  compared with what it should give
//
// A [Handler] answers reviews by a [Config], which [Handler.Reload] swaps while it serves. A
// [Server] puts it on TLS with timeouts, probes and a graceful end; a [Certificate] is
// renewed without a restart, and [Files] tells when to. [Manifests] writes what a cluster
// needs to call it.
//
// What always holds:
//
//   - Whatever the body, the answer is a well-formed review or a 4xx with a sentence.
//   - A patch is sent only after it was applied to the object and gave what was predicted: an
//     API server refuses the whole request where a patch does not apply, also under
//     failurePolicy Ignore.
//   - A failure of ours, a panic also, is what [FailurePolicy] says: the object is admitted
//     as it is, with a warning, or denied.
//   - Only the creation of a pod is patched, not its update: its spec may not change.
//   - Nothing is kept from one review to the next, and nothing but the answer is written: a
//     dry run is answered as any other request.
//   - Logs and metrics hold no part of an object but its kind, namespace and name.
package admission

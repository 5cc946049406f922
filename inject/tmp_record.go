package inject

// RecordAnnotation is temporary.
const RecordAnnotation = "braid.example.com/injected"

package merge

// What a merge cost, for stories.

func Work(r Result) int  { return r.s.Work }
func Edits(r Result) int { return len(r.s.Edits) }

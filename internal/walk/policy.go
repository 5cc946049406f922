package walk

// Case is one of the fifteen ways in which last, live and desired can stand to
// each other at one position. Each is absent or has a value, and values are
// equal or not. x, y and z below are different values, – is absence.
type Case uint8

const (
	Absent          Case = iota // – – –
	WeAdd                       // – – x
	TheyAdd                     // – x –
	BothAddSame                 // – x x
	BothAddOther                // – x y
	BothRemove                  // x – –
	TheyRemove                  // x – x
	TheyRemoveWeSet             // x – y
	WeRemove                    // x x –
	Unchanged                   // x x x
	WeSet                       // x x y
	WeRemoveTheySet             // x y –
	TheySet                     // x y x
	BothSetSame                 // x y y
	BothSetOther                // x y z

	Cases = 15 // how many there are
)

var caseNames = [Cases]string{
	"Absent", "WeAdd", "TheyAdd", "BothAddSame", "BothAddOther", "BothRemove", "TheyRemove", "TheyRemoveWeSet",
	"WeRemove", "Unchanged", "WeSet", "WeRemoveTheySet", "TheySet", "BothSetSame", "BothSetOther",
}

var casePatterns = [Cases]string{
	"– – –", "– – x", "– x –", "– x x", "– x y", "x – –", "x – x", "x – y",
	"x x –", "x x x", "x x y", "x y –", "x y x", "x y y", "x y z",
}

// String returns the name of c. Names are stable.
func (c Case) String() string { return caseNames[c] }

// Pattern returns last, live and desired as the table writes them: "x y –".
func (c Case) Pattern() string { return casePatterns[c] }

// Action is what a policy does at a position.
type Action uint8

const (
	Keep  Action = iota // leave what live has
	Take                // make it what desired says
	Clash               // report a conflict and leave what live has
)

// String returns the name of a. Names are stable.
func (a Action) String() string { return [...]string{"Keep", "Take", "Clash"}[a] }

// Policy says what to do in each of the fifteen cases.
type Policy [Cases]Action

// The policies of the field's tools. They agree on nine cases.
var (
	// Apply makes desired hold, as kubectl apply does.
	Apply = Policy{
		WeAdd: Take, BothAddOther: Take, TheyRemove: Take, TheyRemoveWeSet: Take,
		WeRemove: Take, WeSet: Take, WeRemoveTheySet: Take, TheySet: Take, BothSetOther: Take,
	}
	// Strict refuses to overwrite what others changed, as apply with
	// overwrite=false does.
	Strict = Policy{
		WeAdd: Take, BothAddOther: Clash, TheyRemove: Clash, TheyRemoveWeSet: Clash,
		WeRemove: Take, WeSet: Take, WeRemoveTheySet: Clash, TheySet: Clash, BothSetOther: Clash,
	}
	// Update carries over only what we changed, as kustomize and kpt do.
	Update = Policy{
		WeAdd: Take, BothAddOther: Take, TheyRemove: Keep, TheyRemoveWeSet: Take,
		WeRemove: Take, WeSet: Take, WeRemoveTheySet: Take, TheySet: Keep, BothSetOther: Take,
	}
	// Branch treats both sides alike, as git does.
	Branch = Policy{
		WeAdd: Take, BothAddOther: Clash, TheyRemove: Keep, TheyRemoveWeSet: Clash,
		WeRemove: Take, WeSet: Take, WeRemoveTheySet: Clash, TheySet: Keep, BothSetOther: Clash,
	}
)

// caseOf returns the case of a position, given which values it has and which of
// them are equal. Equality with an absent value counts for nothing.
func caseOf(last, live, desired bool, lastLive, lastDesired, liveDesired bool) Case {
	switch {
	case !last && !live && !desired:
		return Absent
	case !last && !live:
		return WeAdd
	case !last && !desired:
		return TheyAdd
	case !last:
		return pick(liveDesired, BothAddSame, BothAddOther)
	case !live && !desired:
		return BothRemove
	case !live:
		return pick(lastDesired, TheyRemove, TheyRemoveWeSet)
	case !desired:
		return pick(lastLive, WeRemove, WeRemoveTheySet)
	case lastDesired:
		return pick(lastLive, Unchanged, TheySet)
	case lastLive:
		return WeSet
	}
	return pick(liveDesired, BothSetSame, BothSetOther)
}

func pick(equal bool, same, other Case) Case {
	if equal {
		return same
	}
	return other
}

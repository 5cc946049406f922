package merge

import "example.com/braid/internal/walk"

// Case is one of the fifteen ways in which last, live and desired can stand to
// each other at one position.
type Case = walk.Case

// The cases. x, y and z are different values, – is absence, in the order last,
// live, desired. The last four columns are what each policy does:
// K(eep), T(ake), C(lash).
const (
	//                                                Apply Strict Update Branch
	Absent          = walk.Absent          // – – –    K     K      K      K
	WeAdd           = walk.WeAdd           // – – x    T     T      T      T
	TheyAdd         = walk.TheyAdd         // – x –    K     K      K      K
	BothAddSame     = walk.BothAddSame     // – x x    K     K      K      K
	BothAddOther    = walk.BothAddOther    // – x y    T     C      T      C
	BothRemove      = walk.BothRemove      // x – –    K     K      K      K
	TheyRemove      = walk.TheyRemove      // x – x    T     C      K      K
	TheyRemoveWeSet = walk.TheyRemoveWeSet // x – y    T     C      T      C
	WeRemove        = walk.WeRemove        // x x –    T     T      T      T
	Unchanged       = walk.Unchanged       // x x x    K     K      K      K
	WeSet           = walk.WeSet           // x x y    T     T      T      T
	WeRemoveTheySet = walk.WeRemoveTheySet // x y –    T     C      T      C
	TheySet         = walk.TheySet         // x y x    T     C      K      K
	BothSetSame     = walk.BothSetSame     // x y y    K     K      K      K
	BothSetOther    = walk.BothSetOther    // x y z    T     C      T      C
)

// Action is what a policy does at a position.
type Action = walk.Action

// The actions.
const (
	Keep  = walk.Keep  // leave what live has
	Take  = walk.Take  // make it what desired says
	Clash = walk.Clash // report a conflict
)

// Policy is a table from the case to the action. Copy one of the four and change
// a row to make your own; an action other than Take where live and desired are
// equal has no effect.
type Policy = walk.Policy

// The policies of the field's tools. Do not change them; they are variables only
// because Go has no constant arrays.
var (
	// Apply makes desired hold: kubectl apply.
	Apply = walk.Apply
	// Strict refuses to overwrite what others changed: apply with overwrite=false.
	Strict = walk.Strict
	// Update carries over only what we changed: kustomize, kpt.
	Update = walk.Update
	// Branch treats both sides alike: git.
	Branch = walk.Branch
)

// Package node holds JSON documents as flat, immutable trees.
//
// A [Tree] is two slices over the text of its document:
//
//	text   {"b":[1,2],"a":"x"}
//	nodes  0:{} 1:"b"[] 2:1 3:2 4:"a""x"         preorder, each with its parent and
//	                                              the end of its subtree
//	kids   …{0: 4 1}… {1: 2 3}…                   the children of a map by key, of a
//	                                              list by index
//
// Always true of a Tree that a constructor has returned:
//
//   - node 0 is the root; a child's [ID] is greater than its parent's;
//   - the subtree of i is the IDs in [i, End(i));
//   - [Tree.Kids] of a map is strictly ascending by key in byte order, so no key
//     stands twice and any number of maps are compared by one merge-join;
//   - all text is valid UTF-8, and numbers keep the digits their author wrote;
//   - nothing changes any more: a Tree may be shared, cached and read by any
//     number of goroutines.
//
// The package imports nothing else of this module.
package node

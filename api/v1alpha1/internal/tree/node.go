// Package tree reads YAML or JSON into a plain tree of nodes that know their
// line. It settles what this project takes from YAML: mappings, lists and
// scalars by the JSON-like part of YAML 1.2's core schema (§10.3). Anchors,
// aliases, merge keys, tags, explicit keys and directives are refused, so that
// what is read is what is written. It knows nothing of the types it is read for.
package tree

// Pos is a place in the file, both counted from 1; a column is a character.
type Pos struct{ Line, Column int }

// Kind says what a node is.
type Kind int

// The kinds of node.
const (
	Null Kind = iota
	Text
	Whole // a number without fraction or exponent
	Real  // any other number
	Bool
	List
	Map
)

// String names the kind as an error message does.
func (k Kind) String() string {
	return [...]string{"nothing", "text", "a number", "a number", "true or false", "a list", "a mapping"}[k]
}

// Node is one value of a document.
type Node struct {
	Pos
	Kind Kind
	// Text is a scalar as it was written, without quotes and escapes.
	Text    string
	Items   []*Node // of a List
	Entries []Entry // of a Map, in the file's order, duplicates included
}

// Entry is one key of a mapping and its value.
type Entry struct {
	Key    string
	KeyPos Pos
	Value  *Node
}

// Error is one reason why a file could not be read.
type Error struct {
	Pos
	Message string
}

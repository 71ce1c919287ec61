package tree

import (
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// converter makes nodes of one document's syntax tree.
type converter struct {
	// words is the number of scalars seen that are written, keys included.
	words int
	errs  []Error
}

// words is how many scalars the tokens write. The library has dropped parts of
// a document without a word; counting finds that out.
func words(tokens token.Tokens) int {
	n := 0
	for _, t := range tokens {
		if isWord(t.Type) {
			n++
		}
	}
	return n
}

func isWord(t token.Type) bool {
	switch t {
	case token.StringType, token.SingleQuoteType, token.DoubleQuoteType, token.BoolType, token.NullType,
		token.IntegerType, token.BinaryIntegerType, token.OctetIntegerType, token.HexIntegerType,
		token.FloatType, token.InfinityType, token.NanType:
		return true
	}
	return false
}

func (c *converter) node(n ast.Node) *Node {
	if n != nil && isWord(n.GetToken().Type) {
		c.words++
	}
	switch n := n.(type) {
	case nil:
		return &Node{}
	case *ast.MappingNode:
		return c.mapping(n, n.Values)
	case *ast.MappingValueNode:
		return c.mapping(n, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		return c.list(n)
	case *ast.StringNode:
		return text(n)
	case *ast.LiteralNode:
		c.words++
		return &Node{Pos: position(n), Kind: Text, Text: n.Value.Value}
	case *ast.NullNode:
		return &Node{Pos: position(n)}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return scalar(position(n), n.GetToken().Value)
	}
	c.errs = append(c.errs, Error{position(n), "this form of YAML is not read here"})
	return &Node{Pos: position(n)}
}

func (c *converter) mapping(n ast.Node, values []*ast.MappingValueNode) *Node {
	node := &Node{Pos: position(n), Kind: Map}
	for _, v := range values {
		entry := Entry{KeyPos: position(v.Key), Value: c.node(v.Value)}
		c.words++
		switch key := v.Key.(type) {
		case *ast.StringNode:
			entry.Key = key.Value
		case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
			entry.Key = key.GetToken().Value
		default:
			c.errs = append(c.errs, Error{entry.KeyPos, "a field's name must be plain text"})
		}
		node.Entries = append(node.Entries, entry)
	}
	// A block mapping has no sign of its own: it starts where its first key does.
	if n.GetToken().Type != token.MappingStartType && len(node.Entries) > 0 {
		node.Pos = node.Entries[0].KeyPos
	}
	return node
}

func (c *converter) list(n *ast.SequenceNode) *Node {
	node := &Node{Pos: position(n), Kind: List}
	for _, item := range n.Values {
		node.Items = append(node.Items, c.node(item))
	}
	return node
}

func text(n *ast.StringNode) *Node {
	if t := n.Token.Type; t == token.SingleQuoteType || t == token.DoubleQuoteType {
		return &Node{Pos: position(n), Kind: Text, Text: n.Value}
	}
	return scalar(position(n), n.Value)
}

func position(n ast.Node) Pos {
	t := n.GetToken()
	if t == nil || t.Position == nil {
		return Pos{1, 1}
	}
	return Pos{t.Position.Line, t.Position.Column}
}

// Numbers are JSON's (RFC 8259 §6), with a sign: the library's own reading of
// 010 as eight and of 1e3 as text would surprise.
var (
	whole  = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	number = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
)

// scalar tells what an unquoted word means.
func scalar(at Pos, word string) *Node {
	node := &Node{Pos: at, Kind: Text, Text: word}
	switch lower := strings.ToLower(word); {
	case lower == "null" || word == "~" || word == "":
		node.Kind = Null
	case lower == "true" || lower == "false":
		node.Kind, node.Text = Bool, lower
	case whole.MatchString(word):
		node.Kind = Whole
	case number.MatchString(word):
		node.Kind = Real
	}
	return node
}

package tree

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxBytes is the largest file that is read.
const MaxBytes = 4 << 20

// Parse reads every document of a file; empty documents are left out.
func Parse(data []byte) (docs []*Node, errs []Error) {
	if len(data) > MaxBytes {
		return nil, []Error{{Pos{1, 1}, fmt.Sprintf("the file is larger than %d MiB", MaxBytes>>20)}}
	}
	if err := checkText(data); err != nil {
		return nil, []Error{*err}
	}
	protect(&errs, Pos{1, 1}, func() { docs, errs = read(plain(data)) })
	return docs, errs
}

// read takes the documents one by one: the library drops what follows an empty
// one, and one that is malformed is no reason to be silent about the others.
func read(data []byte) (docs []*Node, errs []Error) {
	tokens := lexer.Tokenize(string(data))
	if errs := guard(tokens); len(errs) > 0 {
		return nil, errs
	}
	for _, part := range split(tokens) {
		node, bad := document(part)
		errs = append(errs, bad...)
		if node != nil && node.Kind != Null {
			docs = append(docs, node)
		}
	}
	return docs, errs
}

// split cuts a file at its document marks and leaves the comments out.
func split(tokens token.Tokens) []token.Tokens {
	var parts []token.Tokens
	fresh := true
	for _, t := range tokens {
		switch t.Type {
		case token.CommentType:
		case token.DocumentHeaderType, token.DocumentEndType:
			fresh = true
		default:
			if fresh {
				parts = append(parts, nil)
			}
			fresh = false
			parts[len(parts)-1] = append(parts[len(parts)-1], t)
		}
	}
	return parts
}

func document(tokens token.Tokens) (node *Node, errs []Error) {
	protect(&errs, start(tokens), func() { node, errs = parse(tokens) })
	return node, errs
}

func parse(tokens token.Tokens) (*Node, []Error) {
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, []Error{syntaxError(err)}
	}
	c := converter{}
	var node *Node
	for _, doc := range file.Docs {
		node = c.node(doc.Body)
	}
	if len(c.errs) == 0 && c.words < words(tokens) {
		c.errs = []Error{{start(tokens), "not YAML: a part of this document cannot be read"}}
	}
	return node, c.errs
}

func start(tokens token.Tokens) Pos {
	return Pos{tokens[0].Position.Line, tokens[0].Position.Column}
}

// protect turns a panic of the YAML library into an error: it has had some on
// hostile input, and its fault is no crash of ours.
func protect(errs *[]Error, at Pos, call func()) {
	defer func() {
		if recover() != nil {
			*errs = []Error{{at, "not YAML: malformed in a way that the parser cannot name"}}
		}
	}()
	call()
}

func syntaxError(err error) Error {
	var known yaml.Error
	if !errors.As(err, &known) {
		return Error{Pos{1, 1}, "not YAML: " + err.Error()}
	}
	at := Pos{1, 1}
	if token := known.GetToken(); token != nil && token.Position != nil {
		at = Pos{token.Position.Line, token.Position.Column}
	}
	return Error{at, "not YAML: " + printable(known.GetMessage())}
}

package tree

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// What a file may be, so that neither the parser's stack nor its time, which
// grows with the square of a mapping's keys, is at the mercy of the file.
const (
	maxDepth  = 100
	maxKeys   = 1000
	maxTokens = 300_000
)

var refused = map[token.Type]string{
	token.AnchorType:     "anchors (&) are not read here; write the value out",
	token.AliasType:      "aliases (*) are not read here; write the value out, or put it in quotes",
	token.MergeKeyType:   "merge keys (<<) are not read here; write the fields out",
	token.TagType:        "tags (!) are not read here; leave it out, or put the value in quotes",
	token.MappingKeyType: "explicit keys (?) are not read here; write key: value",
	token.DirectiveType:  "directives (%) are not read here",
}

// level is one collection that is open while the tokens are counted.
type level struct {
	flow   bool
	column int
	keys   int
}

// counter follows the nesting of a file from its tokens alone.
type counter struct {
	open []level
	// line of the token before, and whether the next one starts a block node.
	line   int
	starts bool
	errs   []Error
}

// guard says what in the tokens is refused before they are parsed.
func guard(tokens token.Tokens) []Error {
	if len(tokens) > maxTokens {
		return []Error{{Pos{1, 1}, fmt.Sprintf("the file has more than %d words and signs", maxTokens)}}
	}
	c := counter{}
	for _, t := range tokens {
		if t.Type == token.CommentType {
			continue
		}
		if message := refused[t.Type]; message != "" {
			c.refuse(t, message)
		}
		if !c.count(t) {
			break
		}
	}
	return c.errs
}

func (c *counter) refuse(t *token.Token, message string) {
	c.errs = append(c.errs, Error{Pos{t.Position.Line, t.Position.Column}, message})
}

// count takes one token in; false means that the rest need not be looked at.
func (c *counter) count(t *token.Token) bool {
	if t.Type == token.DocumentHeaderType && !c.inFlow() {
		c.open = c.open[:0] // what stands in another document is in no mapping of the one before
	}
	if !c.inFlow() && (c.starts || t.Position.Line > c.line) {
		c.block(t)
	}
	c.line, c.starts = t.Position.Line, t.Type == token.SequenceEntryType
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		c.open = append(c.open, level{flow: true})
	case token.SequenceEndType, token.MappingEndType:
		c.close()
	case token.MappingValueType:
		if c.inFlow() {
			c.open[len(c.open)-1].keys++
		}
	}
	return c.within(t)
}

func (c *counter) inFlow() bool {
	return len(c.open) > 0 && c.open[len(c.open)-1].flow
}

func (c *counter) close() {
	if c.inFlow() {
		c.open = c.open[:len(c.open)-1]
	}
}

// block takes in the first token of a line or of a list's item.
func (c *counter) block(t *token.Token) {
	column := t.Position.Column
	for len(c.open) > 0 && c.open[len(c.open)-1].column > column {
		c.open = c.open[:len(c.open)-1]
	}
	if len(c.open) == 0 || c.open[len(c.open)-1].column < column {
		c.open = append(c.open, level{column: column})
	}
	if t.Type != token.SequenceEntryType && t.Type != token.DocumentHeaderType {
		c.open[len(c.open)-1].keys++
	}
}

func (c *counter) within(t *token.Token) bool {
	if len(c.open) > maxDepth {
		c.refuse(t, fmt.Sprintf("nested deeper than %d levels", maxDepth))
		return false
	}
	if len(c.open) > 0 && c.open[len(c.open)-1].keys > maxKeys {
		c.refuse(t, fmt.Sprintf("more than %d fields in one mapping", maxKeys))
		return false
	}
	return true
}

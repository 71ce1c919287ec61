package strict

import (
	"regexp"
	"strconv"

	"nfchain.dev/nfchain/api/v1alpha1/internal/tree"
)

// longest text that a message quotes whole, in characters.
const longest = 60

// Quote puts text from a file in quotes, shortened and safe for a terminal.
func Quote(text string) string {
	runes := []rune(text)
	if len(runes) <= longest {
		return strconv.Quote(text)
	}
	return strconv.Quote(string(runes[:longest])) + "…"
}

// found says what a node is, in the words of a message.
func found(n *tree.Node) string {
	switch n.Kind {
	case tree.Text:
		return "text " + Quote(n.Text)
	case tree.Whole, tree.Real:
		return "the number " + Quote(n.Text)
	case tree.Bool:
		return n.Text
	}
	return n.Kind.String()
}

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_/-]{1,60}$`)

// Join adds a field to a path, in brackets and quotes when it is no plain word.
func Join(path, key string) string {
	if !plainKey.MatchString(key) {
		return path + "[" + Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

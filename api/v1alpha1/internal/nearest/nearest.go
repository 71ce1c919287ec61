// Package nearest finds the right word for a wrong one.
package nearest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"
)

// longest word that is compared; a longer one is no slip of the pen.
const longest = 64

// Word returns the known word that is closest to word in edits, or "" when none
// is close. At most a third of the letters may differ, or one, or two in words
// that begin alike, such as two that have changed places.
func Word(word string, known []string) string {
	if word == "" || len(word) > longest {
		return ""
	}
	best, least := "", len(word)+1
	for _, k := range known {
		a, b := strings.ToLower(word), strings.ToLower(k)
		distance := levenshtein.Distance(a, b, nil)
		near := distance <= max(1, len(word)/3) || distance == 2 && b != "" && a[0] == b[0]
		if near && distance < least && distance < len(k) {
			best, least = k, distance
		}
	}
	return best
}

// What a nearest word stands between in a message.
const before, after = "; did you mean ", "?"

// Suggested is the nearest word that a message ends with by Hint, or "".
func Suggested(message string) string {
	i := strings.LastIndex(message, before)
	if i < 0 || !strings.HasSuffix(message, after) {
		return ""
	}
	word, err := strconv.Unquote(strings.TrimSuffix(message[i+len(before):], after))
	if err != nil {
		return ""
	}
	return word
}

// Hint ends a message about a wrong word: with the nearest known one, or with
// all of them when none is near.
func Hint(word string, known []string) string {
	if near := Word(word, known); near != "" {
		return before + strconv.Quote(near) + after
	}
	switch len(known) {
	case 0:
		return ""
	case 1:
		return "; write " + known[0]
	}
	sorted := slices.Sorted(slices.Values(known))
	return "; choose from " + strings.Join(slices.Compact(sorted), ", ")
}

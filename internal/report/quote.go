package report

import (
	"regexp"
	"strings"
)

// plainWord needs no quotes in a POSIX shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quoted writes a command so that it can be pasted into a shell.
func quoted(command []string) string {
	words := make([]string, len(command))
	for i, w := range command {
		words[i] = w
		if !plainWord.MatchString(w) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

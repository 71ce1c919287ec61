package words

import (
	"regexp"
	"strings"
)

// plain needs no quotes in a POSIX shell.
var plain = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// Shell is a command as it can be pasted into a POSIX shell.
func Shell(command ...string) string {
	quoted := make([]string, len(command))
	for i, word := range command {
		if quoted[i] = word; !plain.MatchString(word) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

package words

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// headings of a difference in the unified format: what is compared, and by which names.
const headings = 3

// Difference tells by which lines a text is another than it was, as diff(1) has them: "- " is before one that is gone, "+ "
// before one that came. What is there once in both, in the same order, stays, and what is alike beside that.
func Difference(was, is []string) (lines []string) {
	unified := string(diff.Diff("was", ended(was), "is", ended(is)))
	at := 0
	for line := range strings.Lines(unified) {
		if at++; at > headings && (line[0] == '-' || line[0] == '+') {
			lines = append(lines, line[:1]+" "+strings.TrimSuffix(line[1:], "\n"))
		}
	}
	return lines
}

// ended is a text of lines that all have an end.
func ended(lines []string) []byte {
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(line + "\n")
	}
	return []byte(text.String())
}

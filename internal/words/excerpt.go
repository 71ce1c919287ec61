package words

import "strings"

// Excerpt is the end of what a program wrote, short enough for an error.
func Excerpt(text []byte) string {
	const most = 400
	s := strings.ToValidUTF8(string(text[max(0, len(text)-most):]), "")
	if len(text) > most {
		s = "…" + s
	}
	return strings.TrimSpace(s)
}

package procfs

import "strings"

// Field is what a file of the form of /proc/PID/status has behind a name; "" where it has none.
func Field(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok && key == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

package v1alpha1

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const maxName = 63

// CheckName returns an error, in words for the user, for what is not a name: a
// DNS label (RFC 1123 §2.1) in lower case.
func CheckName(name string) error {
	wrong := wrongWithName(name)
	if wrong == "" {
		return nil
	}
	return fmt.Errorf("%s is not a name (%s): use lower-case letters, digits and '-', at most %d, "+
		"starting and ending with a letter or digit", quote(name), wrong, maxName)
}

func wrongWithName(name string) string {
	if name == "" {
		return "it is empty"
	}
	if n := utf8.RuneCountInString(name); n > maxName {
		return fmt.Sprintf("it has %d characters", n)
	}
	for _, r := range name {
		if !isNameByte(r) {
			return "it has " + character(r)
		}
	}
	if strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") {
		return "it starts or ends with '-'"
	}
	return ""
}

func isNameByte(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-'
}

func character(r rune) string {
	switch {
	case r == ' ':
		return "a space"
	case r == '/':
		return "a slash"
	case r >= 'A' && r <= 'Z':
		return fmt.Sprintf("the capital %q", r)
	}
	return fmt.Sprintf("a %q", r)
}

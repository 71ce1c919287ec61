package tree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

func checkText(data []byte) *Error {
	line := 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return &Error{Pos{line, 1}, "this line is not UTF-8 text"}
		}
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' {
			return &Error{Pos{line, 1}, fmt.Sprintf("this line has a control character (%U)", r)}
		}
		if r == '\n' {
			line++
		}
		i += size
	}
	return nil
}

// plain takes off what the YAML scanner stumbles over: a byte order mark, and
// the tabs with which JSON may be indented. JSON has no tab inside a string,
// and a space in its place keeps every position.
func plain(data []byte) []byte {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if bytes.ContainsRune(data, '\t') && json.Valid(data) {
		return bytes.ReplaceAll(data, []byte("\t"), []byte(" "))
	}
	return data
}

// printable keeps a message that quotes the file on its line.
func printable(message string) string {
	message = strings.ReplaceAll(message, "character '\t'", "a tab")
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, message)
}

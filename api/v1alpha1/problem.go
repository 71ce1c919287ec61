package v1alpha1

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nfchain.dev/nfchain/api/v1alpha1/internal/nearest"
)

// Problem is one thing that is wrong with a file, and where.
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line"`   // from 1
	Column int    `json:"column"` // from 1
	// Path of the field: spec.functions[1].shaper.rate. Empty for the whole document.
	Path    string `json:"path"`
	Message string `json:"message"`
	// Suggestion is the right word nearest to a wrong one, which the message names too;
	// empty where there is none.
	Suggestion string `json:"suggestion,omitempty"`
}

// Nearest is the known word that somebody may have meant by another, or "".
func Nearest(word string, known []string) string { return nearest.Word(word, known) }

// String is one line as compilers print it.
func (p Problem) String() string {
	if p.Path == "" {
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", p.File, p.Line, p.Column, p.Path, p.Message)
}

// Problems is everything that is wrong with a file, in the order of its lines.
// It is the error that [Catalogue.Decode] returns.
type Problems []Problem

// Error has one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Sort problems by their places in the file.
func (p Problems) Sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// FieldProblem is one thing that is wrong with a value, by the path of the
// field from that value on. It has no place in a file yet.
type FieldProblem struct{ Path, Message string }

// findings collects field problems.
type findings []FieldProblem

// add adds a problem, unless there is no message.
func (f *findings) add(path, message string) {
	if message != "" {
		*f = append(*f, FieldProblem{path, message})
	}
}

func (f *findings) addf(path, format string, args ...any) {
	f.add(path, fmt.Sprintf(format, args...))
}

// under adds the problems of a value that is at path.
func (f *findings) under(path string, problems []FieldProblem) {
	for _, p := range problems {
		f.add(joinPath(path, p.Path), p.Message)
	}
}

func joinPath(path, rest string) string {
	if path == "" || rest == "" || rest[0] == '[' {
		return path + rest
	}
	return path + "." + rest
}

func item(path string, index int) string { return fmt.Sprintf("%s[%d]", path, index) }

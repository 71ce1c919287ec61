package v1alpha1

import (
	"slices"

	"nfchain.dev/nfchain/api/v1alpha1/internal/strict"
)

// place is where in a document the value stands that is being validated. It
// tells what the value itself no longer can: what was written, and whether it
// could be read. Paths are relative to it.
type place struct {
	document *strict.Decoder
	path     string
}

func (p place) under(path string) place { return place{p.document, joinPath(p.path, path)} }

// has tells whether the file gives a value for the field.
func (p place) has(path string) bool { return p.document.Given(joinPath(p.path, path)) }

// lost tells whether the value is not the file's, since that could not be read.
func (p place) lost(path string) bool { return p.document.Lost(joinPath(p.path, path)) }

// sound tells whether nothing that was written is wrong so far.
func (p place) sound() bool { return len(p.document.Problems) == 0 }

// checkOptions validates what could be read of the options of a function or of wirings.
func (p place) checkOptions() []FieldProblem {
	var f findings
	for _, variant := range p.document.Variants(p.path) {
		options, ok := variant.Options.(Validator)
		if !ok {
			continue
		}
		problems := options.Validate()
		if other, ok := variant.Other.(Validator); ok {
			still := other.Validate()
			problems = slices.DeleteFunc(problems, func(p FieldProblem) bool { return !slices.Contains(still, p) })
		}
		f.under(variant.Kind, problems)
	}
	return f
}

// report hands what validation found to the document, which knows the lines.
func (p place) report(problems []FieldProblem) {
	for _, problem := range problems {
		p.document.Report(joinPath(p.path, problem.Path), problem.Message)
	}
}

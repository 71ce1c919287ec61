package v1alpha1

import "nfchain.dev/nfchain/api/v1alpha1/internal/strict"

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

// sound tells whether the field and all that is in it is as the file has it.
func (p place) sound(path string) bool { return p.document.Sound(joinPath(p.path, path)) }

// report hands what validation found to the document, which knows the lines.
func (p place) report(problems []FieldProblem) {
	for _, problem := range problems {
		p.document.Report(joinPath(p.path, problem.Path), problem.Message)
	}
}

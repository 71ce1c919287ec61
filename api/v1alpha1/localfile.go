package v1alpha1

import (
	"maps"
	"slices"
	"strings"
)

// Filed is an option struct of a wiring that names a file of this machine.
type Filed interface {
	// File is the field that names it, and its path, from where the chain's file is, or its text ([Inline]).
	File() (field string, path *string)
	// CheckFile says what is wrong with its text.
	CheckFile(text []byte) error
}

// Inline tells that in the place of a path there is the text itself, which is an object of JSON.
func Inline(path string) bool { return strings.HasPrefix(strings.TrimSpace(path), "{") }

// LocalFile is a file of this machine that options of a wiring name.
type LocalFile struct {
	// Kind and Name of the document, and the Path of the field in it.
	Kind, Name, Path string
	// Of are the options.
	Of Filed
}

// LocalFiles that options name, in a file's order. Values of a sweep are not among them.
func (f *File) LocalFiles() []LocalFile {
	var all []LocalFile
	add := func(kind, name, path string, s ChainSpec) {
		for _, wiring := range slices.Sorted(maps.Keys(s.WiringOptions)) {
			if of, is := s.WiringOptions[wiring].(Filed); is {
				field, _ := of.File()
				all = append(all, LocalFile{kind, name, joinPath(joinPath(path, wiring), field), of})
			}
		}
	}
	for _, c := range f.Chains {
		add(KindChain, c.Metadata.Name, "spec", c.Spec)
	}
	for _, x := range f.Experiments {
		add(KindExperiment, x.Metadata.Name, "spec.chain", x.Spec.Chain)
	}
	return all
}

// Package strict decodes a tree of nodes into Go values and reports everything
// that is wrong with it at once, each with its place: unknown and duplicate
// fields, wrong types, missing required ones, words and numbers out of bounds.
//
// Fields go by their json tag. Of the jsonschema tag it enforces required,
// enum, minimum and maximum, so that a JSON schema made from the same types
// says the same. It knows no particular type; those that differ by kind are
// handed to it as [Union]s.
package strict

import (
	"reflect"
	"strings"

	"nfchain.dev/nfchain/api/v1alpha1/internal/tree"
)

// maxProblems is how many problems of a document are told one by one.
const maxProblems = 1000

// Problem is one thing that is wrong with a document.
type Problem struct {
	tree.Pos
	// Path of the field from the document's root: spec.functions[1].name.
	Path    string
	Message string
}

// Defaulter is a struct that fills itself in before the document's fields are
// put on top. Pointers and list items are asked; plain struct fields are up to
// the struct that holds them.
type Defaulter interface{ SetDefaults() }

// Decoder decodes one document.
type Decoder struct {
	// Unions are the struct types of the document whose fields vary by kind.
	Unions []Union
	// Problems so far.
	Problems []Problem

	places   map[string]tree.Pos
	spoilt   map[string]bool
	variants map[string][]Variant
	// other makes the decoder put another value where none could be decoded.
	other    bool
	cut      bool
	fieldsOf map[reflect.Type]*fields
}

// New returns a decoder for one document.
func New(unions ...Union) *Decoder {
	return &Decoder{
		Unions:   unions,
		places:   map[string]tree.Pos{},
		spoilt:   map[string]bool{},
		variants: map[string][]Variant{},
		fieldsOf: map[reflect.Type]*fields{},
	}
}

// Decode puts the node on top of what target, a pointer, holds already.
func (d *Decoder) Decode(node *tree.Node, target any) {
	d.value(node, "", reflect.ValueOf(target).Elem(), rule{})
}

// Given reports whether the document has a value for the field.
func (d *Decoder) Given(path string) bool {
	_, ok := d.places[path]
	return ok
}

// Lost reports whether the field's value is not the document's, because it or
// what holds it could not be decoded, or is written under another name.
func (d *Decoder) Lost(path string) bool {
	for at := path; ; at = parent(at) {
		if d.spoilt[at] {
			return true
		}
		if at == "" {
			return false
		}
	}
}

// sound reports whether the field and all that is in it could be decoded.
func (d *Decoder) sound(path string) bool {
	for at := range d.spoilt {
		if rest, ok := strings.CutPrefix(at, path); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return false
		}
	}
	return true
}

// Report adds a problem that was found after decoding, at the field or at the
// nearest that holds it. A field that could not be decoded is not reported
// again, since its value is not the document's.
func (d *Decoder) Report(path, message string) {
	if d.Lost(path) {
		return
	}
	d.add(d.Place(path), path, message)
}

// spoil adds a problem found while decoding.
func (d *Decoder) spoil(at tree.Pos, path, message string) {
	d.spoilt[path] = true
	d.add(at, path, message)
}

func (d *Decoder) add(at tree.Pos, path, message string) {
	if d.full() {
		if !d.cut {
			d.Problems = append(d.Problems, Problem{Pos: at, Message: "too many problems; the rest is left out"})
		}
		d.cut = true
		return
	}
	d.Problems = append(d.Problems, Problem{at, path, message})
}

func (d *Decoder) full() bool { return len(d.Problems) >= maxProblems }

// Place is where the field is, or the nearest field that holds it.
func (d *Decoder) Place(path string) tree.Pos {
	for {
		if at, ok := d.places[path]; ok || path == "" {
			return at
		}
		path = parent(path)
	}
}

// Within tells whether the document has the field, or one that holds it, deeper than outer.
func (d *Decoder) Within(path, outer string) bool {
	for ; len(path) > len(outer); path = parent(path) {
		if d.Given(path) {
			return true
		}
	}
	return false
}

// parent is the path without its last field or index.
func parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

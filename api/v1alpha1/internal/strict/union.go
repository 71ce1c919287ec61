package strict

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"nfchain.dev/nfchain/api/v1alpha1/internal/tree"
)

// Union describes a struct with a field that names a kind, and beside it a
// field of that very name which holds the kind's own options.
type Union struct {
	// In is the struct type.
	In reflect.Type
	// Kind and Options are its Go fields: the kind's name, and where the
	// options go, of type any.
	Kind, Options string
	// New makes the options of a kind, a pointer to a struct with its defaults.
	New map[string]func() any
}

// Variant is the options that were decoded for a union.
type Variant struct {
	// Kind whose options they are: the document's or, where that is none, the
	// kind under which the only options are given.
	Kind string
	// Options have their defaults where something could not be decoded. Other
	// is nil unless there is such a place; it is the same with another value in
	// each of them, so that what is wrong with both is wrong with the document.
	Options, Other any
}

// Variant is the options of the union that is at the path.
func (d *Decoder) Variant(path string) Variant { return d.variants[path] }

// Kinds in alphabetical order.
func (u Union) Kinds() []string { return slices.Sorted(maps.Keys(u.New)) }

// variant decodes the options of the kind that v says it is. Options that are
// not written are decoded from nothing, so that a required one is missed.
func (d *Decoder) variant(n *tree.Node, path string, v reflect.Value, given map[string]tree.Entry) {
	kind := v.FieldByName(d.Union.Kind).String()
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if key != kind {
			d.strange(given[key], path, kind)
		}
	}
	if d.Union.New[kind] == nil && len(given) == 1 {
		for key := range given {
			kind = key
		}
	}
	make, ok := d.Union.New[kind]
	if !ok {
		return
	}
	node := &tree.Node{Pos: n.Pos, Kind: tree.Map}
	if e, ok := given[kind]; ok {
		node = e.Value
		if node.Kind == tree.Null {
			node = &tree.Node{Pos: e.KeyPos, Kind: tree.Map}
		}
	}
	options := make()
	at := Join(path, kind)
	d.value(node, at, reflect.ValueOf(options).Elem(), rule{})
	found := Variant{Kind: kind, Options: options}
	if !d.sound(at) {
		found.Other = make()
		again := New(d.Union)
		again.other = true
		again.value(node, at, reflect.ValueOf(found.Other).Elem(), rule{})
	}
	d.variants[path] = found
	v.FieldByName(d.Union.Options).Set(reflect.ValueOf(options))
}

// strange reports options of another kind. Where the kind itself is misspelt,
// that is the error, and it is reported as such.
func (d *Decoder) strange(e tree.Entry, path, kind string) {
	switch {
	case kind == "":
		d.spoilt[Join(path, "kind")] = true
		d.add(e.KeyPos, Join(path, e.Key), fmt.Sprintf("options of %s given, but no kind: %s", e.Key, e.Key))
	case d.Union.New[kind] != nil:
		d.spoil(e.KeyPos, Join(path, e.Key), fmt.Sprintf("options of %s given, but kind is %s", e.Key, kind))
	}
}

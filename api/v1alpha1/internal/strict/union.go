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
	// All has those options decoded that are given, whatever kinds they belong to, into a
	// map[string]any.
	All bool
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

// Variants are the options of the union that is at the path.
func (d *Decoder) Variants(path string) []Variant { return d.variants[path] }

// Kinds in alphabetical order.
func (u Union) Kinds() []string { return slices.Sorted(maps.Keys(u.New)) }

// variant decodes the options of the kind that v says it is: if they are not written,
// from nothing, so that a required one is missed.
func (d *Decoder) variant(u Union, n *tree.Node, path string, v reflect.Value, given map[string]tree.Entry) {
	if u.All {
		all := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(given)) {
			all[key] = d.options(u, key, n, path, given)
		}
		if len(all) > 0 {
			v.FieldByName(u.Options).Set(reflect.ValueOf(all))
		}
		return
	}
	kind := v.FieldByName(u.Kind).String()
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if key != kind {
			d.strange(u, given[key], path, kind)
		}
	}
	if u.New[kind] == nil && len(given) == 1 {
		for key := range given {
			kind = key
		}
	}
	if u.New[kind] != nil {
		v.FieldByName(u.Options).Set(reflect.ValueOf(d.options(u, kind, n, path, given)))
	}
}

// options of one kind.
func (d *Decoder) options(u Union, kind string, n *tree.Node, path string, given map[string]tree.Entry) any {
	node := &tree.Node{Pos: n.Pos, Kind: tree.Map}
	if e, ok := given[kind]; ok {
		node = e.Value
		if node.Kind == tree.Null {
			node = &tree.Node{Pos: e.KeyPos, Kind: tree.Map}
		}
	}
	options := u.New[kind]()
	at := Join(path, kind)
	d.value(node, at, reflect.ValueOf(options).Elem(), rule{})
	found := Variant{Kind: kind, Options: options}
	if !d.sound(at) {
		found.Other = u.New[kind]()
		again := New(d.Unions...)
		again.other = true
		again.value(node, at, reflect.ValueOf(found.Other).Elem(), rule{})
	}
	d.variants[path] = append(d.variants[path], found)
	return options
}

// strange reports options of another kind. Where the kind itself is misspelt,
// that is the error, and it is reported as such.
func (d *Decoder) strange(u Union, e tree.Entry, path, kind string) {
	switch {
	case kind == "":
		d.spoilt[Join(path, "kind")] = true
		d.add(e.KeyPos, Join(path, e.Key), fmt.Sprintf("options of %s given, but no kind: %s", e.Key, e.Key))
	case u.New[kind] != nil:
		d.spoil(e.KeyPos, Join(path, e.Key), fmt.Sprintf("options of %s given, but kind is %s", e.Key, kind))
	}
}

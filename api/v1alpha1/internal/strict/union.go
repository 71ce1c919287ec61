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
	d.value(node, Join(path, kind), reflect.ValueOf(options).Elem(), rule{})
	v.FieldByName(d.Union.Options).Set(reflect.ValueOf(options))
}

// strange reports options of another kind. Where the kind itself is misspelt,
// that is the error, and it is reported as such.
func (d *Decoder) strange(e tree.Entry, path, kind string) {
	switch {
	case kind == "":
		d.spoilt[Join(path, "kind")] = true
		d.spoil(e.KeyPos, Join(path, e.Key), fmt.Sprintf("options of %s given, but no kind: %s", e.Key, e.Key))
	case d.Union.New[kind] != nil:
		d.spoil(e.KeyPos, Join(path, e.Key), fmt.Sprintf("options of %s given, but kind is %s", e.Key, kind))
	}
}

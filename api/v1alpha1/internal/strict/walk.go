package strict

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/api/v1alpha1/internal/nearest"
	"nfchain.dev/nfchain/api/v1alpha1/internal/tree"
)

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// value decodes a node into v. Nothing written counts as nothing given.
func (d *Decoder) value(n *tree.Node, path string, v reflect.Value, r rule) {
	if n.Kind == tree.Null {
		return
	}
	d.places[path] = n.Pos
	if reflect.PointerTo(v.Type()).Implements(textUnmarshaler) {
		d.text(n, path, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p := fresh(v.Type().Elem())
		d.value(n, path, p.Elem(), r)
		v.Set(p)
	case reflect.Struct:
		d.structure(n, path, v)
	case reflect.Slice:
		d.list(n, path, v, r)
	case reflect.Map:
		d.mapping(n, path, v, r)
	case reflect.Interface:
		if found := d.anything(n, path); found != nil {
			v.Set(reflect.ValueOf(found))
		}
	default:
		d.scalar(n, path, v, r)
	}
}

// fresh makes a value that holds its own defaults, if it has some.
func fresh(t reflect.Type) reflect.Value {
	p := reflect.New(t)
	if d, ok := p.Interface().(Defaulter); ok {
		d.SetDefaults()
	}
	return p
}

func (d *Decoder) structure(n *tree.Node, path string, v reflect.Value) {
	f := d.fields(v.Type())
	if n.Kind != tree.Map {
		d.spoil(n.Pos, path, fmt.Sprintf("%s is expected, found %s", tree.Map, found(n))+f.asRatio(n))
		return
	}
	variants := map[string]tree.Entry{}
	meant := map[string]bool{} // fields that a misspelt one stands for
	for _, e := range d.unique(n, path) {
		if i, ok := f.byName[e.Key]; ok {
			d.value(e.Value, Join(path, e.Key), v.FieldByIndex(f.list[i].index), f.list[i].rule)
		} else if f.union != nil && f.union.New[e.Key] != nil {
			variants[e.Key] = e
		} else {
			meant[d.unknown(e, path, f)] = true
		}
	}
	d.missing(n, path, f, meant)
	if d.other {
		d.replaceLost(path, v, f)
	}
	if f.union != nil {
		d.variant(*f.union, n, path, v.FieldByIndex(f.at), variants)
	}
}

// unique leaves out and reports the keys that come again.
func (d *Decoder) unique(n *tree.Node, path string) []tree.Entry {
	first := map[string]int{}
	var entries []tree.Entry
	for _, e := range n.Entries {
		if line := first[e.Key]; line > 0 {
			d.add(e.KeyPos, Join(path, e.Key), fmt.Sprintf("is already given in line %d", line))
			continue
		}
		first[e.Key] = e.KeyPos.Line
		entries = append(entries, e)
	}
	return entries
}

// unknown reports a field that does not exist and returns the one it is taken for.
func (d *Decoder) unknown(e tree.Entry, path string, f *fields) string {
	if d.full() {
		return ""
	}
	names := f.names()
	if f.union != nil {
		names = append(names, f.union.Kinds()...)
	}
	d.spoil(e.KeyPos, Join(path, e.Key), "unknown field"+nearest.Hint(e.Key, names))
	near := nearest.Word(e.Key, names)
	if near != "" {
		d.spoilt[Join(path, near)] = true
	}
	return near
}

func (d *Decoder) missing(n *tree.Node, path string, f *fields, meant map[string]bool) {
	given := map[string]tree.Entry{}
	for _, e := range n.Entries {
		given[e.Key] = e
	}
	for _, field := range f.list {
		e, there := given[field.name]
		if !field.rule.required || there && e.Value.Kind != tree.Null {
			continue
		}
		at := Join(path, field.name)
		d.spoilt[at] = true
		switch hint := nearest.Hint("", field.rule.enum); {
		case there:
			d.add(e.KeyPos, at, "is empty"+hint)
		case !meant[field.name]:
			d.add(n.Pos, at, "is missing"+hint)
		}
	}
}

func (d *Decoder) list(n *tree.Node, path string, v reflect.Value, r rule) {
	if !d.expect(n, tree.List, path) {
		return
	}
	out := reflect.MakeSlice(v.Type(), 0, len(n.Items))
	for i, item := range n.Items {
		at := path + "[" + strconv.Itoa(i) + "]"
		element := fresh(v.Type().Elem()).Elem()
		d.value(item, at, element, rule{enum: r.enum, min: r.min, max: r.max})
		if item.Kind == tree.Null {
			d.spoil(item.Pos, at, "is empty")
		}
		out = reflect.Append(out, element)
	}
	v.Set(out)
}

func (d *Decoder) mapping(n *tree.Node, path string, v reflect.Value, r rule) {
	if !d.expect(n, tree.Map, path) {
		return
	}
	out := reflect.MakeMap(v.Type())
	for _, e := range d.unique(n, path) {
		element := fresh(v.Type().Elem()).Elem()
		at := Join(path, e.Key)
		d.value(e.Value, at, element, r)
		if e.Value.Kind == tree.Null {
			d.spoil(e.KeyPos, at, "is empty")
		}
		out.SetMapIndex(reflect.ValueOf(e.Key).Convert(v.Type().Key()), element)
	}
	v.Set(out)
}

func (d *Decoder) expect(n *tree.Node, kind tree.Kind, path string) bool {
	if n.Kind != kind {
		d.spoil(n.Pos, path, fmt.Sprintf("%s is expected, found %s", kind, found(n)))
	}
	return n.Kind == kind
}

// asRatio ends a message about a share where fields are expected one of which is for it.
func (f *fields) asRatio(n *tree.Node) string {
	const name = "ratio"
	i, has := f.byName[name]
	if !has {
		return ""
	}
	r := f.list[i].rule
	if share, is := strings.CutPrefix(r.share(n), "; write "); is {
		return fmt.Sprintf("; write {%s: %s}", name, share)
	}
	if value, err := strconv.ParseFloat(n.Text, 64); err == nil && r.ofOne() && r.bounds(value, n.Text) == "" {
		return fmt.Sprintf("; write {%s: %s}", name, n.Text)
	}
	return ""
}

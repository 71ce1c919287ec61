package strict

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// field is one field of a struct, or of a struct embedded in it.
type field struct {
	name  string
	index []int
	rule  rule
}

// fields of a struct type, in its order, embedded structs inlined.
type fields struct {
	list   []field
	byName map[string]int
	// union whose struct is the type or embedded in it, at the index; nil if there is none.
	union *Union
	at    []int
}

func (f *fields) names() []string {
	names := make([]string, len(f.list))
	for i, field := range f.list {
		names[i] = field.name
	}
	return names
}

func (d *Decoder) fields(t reflect.Type) *fields {
	if known := d.fieldsOf[t]; known != nil {
		return known
	}
	f := &fields{byName: map[string]int{}}
	d.collect(f, t, nil)
	d.fieldsOf[t] = f
	return f
}

func (d *Decoder) collect(f *fields, t reflect.Type, index []int) {
	if i := slices.IndexFunc(d.Unions, func(u Union) bool { return u.In == t }); i >= 0 {
		f.union, f.at = &d.Unions[i], index
	}
	for i := range t.NumField() {
		sf := t.Field(i)
		at := append(append([]int(nil), index...), i)
		name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
		switch {
		case sf.Anonymous && name == "" && sf.Type.Kind() == reflect.Struct:
			d.collect(f, sf.Type, at)
			continue
		case name == "-" || !sf.IsExported():
			continue
		case name == "":
			name = sf.Name
		}
		f.byName[name] = len(f.list)
		r := parseRule(sf.Tag.Get("jsonschema"))
		r.unset = options == "omitzero"
		f.list = append(f.list, field{name, at, r})
	}
}

// rule is what the jsonschema tag asks of a field's value.
type rule struct {
	required bool
	enum     []string
	min, max *float64
	// unset is a zero value that is none: the field was not given.
	unset bool
}

func parseRule(tag string) rule {
	r := rule{}
	for _, part := range strings.Split(tag, ",") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "required":
			r.required = true
		case "enum":
			r.enum = append(r.enum, value)
		case "minimum":
			r.min = bound(value)
		case "maximum":
			r.max = bound(value)
		}
	}
	return r
}

func bound(text string) *float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &v
}

// Field is one that files may have of a struct, and what is asked of its value.
type Field struct {
	// Key that it is under.
	Key string
	// Name of it in Go, in the struct type In, which is embedded where that is another; Index leads to it.
	Name     string
	In, Type reflect.Type
	Index    []int
	Required bool
	// OneOf are the words that it may be; none is any.
	OneOf []string
	// Minimum and Maximum of a number; nil is none.
	Minimum, Maximum *float64
}

// FieldsOf a struct type, in its order, those of embedded structs inlined.
func FieldsOf(t reflect.Type) []Field {
	var all []Field
	for _, f := range New().fields(t).list {
		in := t
		for _, i := range f.index[:len(f.index)-1] {
			in = in.Field(i).Type
		}
		is := in.Field(f.index[len(f.index)-1])
		all = append(all, Field{f.name, is.Name, in, is.Type, f.index, f.rule.required, f.rule.enum, f.rule.min, f.rule.max})
	}
	return all
}

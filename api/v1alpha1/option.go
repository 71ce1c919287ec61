package v1alpha1

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"nfchain.dev/nfchain/api/v1alpha1/internal/strict"
)

// Option is a field of a kind's options, as a file has it.
type Option struct {
	// Path of the field from the options on, with [] for each item of a list: rules.list[].action.
	Path string `json:"path"`
	// Is what is written there, with its unit.
	Is       string `json:"is"`
	Required bool   `json:"required"`
	// OneOf are the words that it may be; none is any.
	OneOf []string `json:"one_of,omitempty"`
	// Minimum and Maximum of a number; nil is none that the type says.
	Minimum *float64 `json:"minimum,omitempty"`
	Maximum *float64 `json:"maximum,omitempty"`
	// Default is what holds where a file says nothing, as it would be written; empty where that is nothing.
	Default json.RawMessage `json:"default,omitempty"`
	// Description is the same as the schema's.
	Description string `json:"description"`
}

// Kinds of functions, by their names in order.
func (c Catalogue) Kinds() []string { return c.union().Kinds() }

// OptionsOf a kind of function, in the order of its type, from what the schema is made from, too; none of a
// kind that there is not.
func (c Catalogue) OptionsOf(kind string) []Option {
	made := c.Functions[kind]
	if made == nil {
		return []Option{}
	}
	options := made()
	l := optionList{said: comments(), all: []Option{}}
	l.said.declared(options)
	l.fields("", reflect.ValueOf(options).Elem())
	return l.all
}

// optionList is gathered from a value that has all defaults.
type optionList struct {
	said commentMap
	all  []Option
}

// fields of a struct.
func (l *optionList) fields(under string, v reflect.Value) {
	for _, f := range strict.FieldsOf(v.Type()) {
		value := v.FieldByIndex(f.Index)
		o := Option{
			Path: joinPath(under, f.Key), Is: writtenAs(f.Type), Required: f.Required, OneOf: f.OneOf, Minimum: f.Minimum, Maximum: f.Maximum,
			Description: l.said.lookup(f.In, f.Name),
		}
		below := structBelow(f.Type)
		if text, err := json.Marshal(value.Interface()); err == nil && below == nil && !value.IsZero() {
			o.Default = text
		}
		l.all = append(l.all, o)
		switch {
		case below == nil:
		case f.Type.Kind() == reflect.Struct:
			l.fields(o.Path, value)
		case f.Type.Kind() == reflect.Slice:
			l.fields(o.Path+"[]", first(below))
		default:
			l.fields(o.Path, first(below))
		}
	}
}

// structBelow is the type whose fields files have below a field of type t; nil where it is written in one.
func structBelow(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || spelled[t] != "" || readsText(t) {
		return nil
	}
	return t
}

// first item of a list, or what a pointer leads to, of which a file says nothing.
func first(t reflect.Type) reflect.Value {
	v := reflect.New(t)
	if d, has := v.Interface().(strict.Defaulter); has {
		d.SetDefaults()
	}
	return v.Elem()
}

func readsText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// writtenAs is how a value of a type is written, with its unit.
func writtenAs(t reflect.Type) string {
	if as := spelled[t]; as != "" {
		return as
	}
	if readsText(t) {
		return "text or a number"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return writtenAs(t.Elem())
	case reflect.Slice:
		return "list of " + strings.Replace(writtenAs(t.Elem()), "fields", "items with fields", 1)
	case reflect.Map:
		return writtenAs(t.Elem()) + " by name"
	case reflect.Struct:
		return "fields"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "number"
	}
	return "whole number"
}

// Bounds are those of a number in words: "1 to 32", "at least 1".
func (o Option) Bounds() string {
	switch {
	case o.Minimum != nil && o.Maximum != nil:
		return fmt.Sprintf("%s to %s", plain(*o.Minimum), plain(*o.Maximum))
	case o.Minimum != nil:
		return "at least " + plain(*o.Minimum)
	case o.Maximum != nil:
		return "at most " + plain(*o.Maximum)
	}
	return ""
}

// plain is a bound as it stands in a file.
func plain(v float64) string {
	text, _ := json.Marshal(v) // it is a number
	return string(text)
}

package v1alpha1

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// fill gives every field that there is a value that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	default:
		if v.CanInt() {
			v.SetInt(1)
		} else if v.CanUint() {
			v.SetUint(1)
		}
	}
}

// written are the names of a struct's fields in a file.
func written(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			names = append(names, written(f.Type)...)
		case name != "-":
			names = append(names, name)
		}
	}
	return names
}

// TestEveryFieldIsWritten: a field that a MarshalJSON of ours forgets would be in no stored
// chain and in no point of a sweep.
func TestEveryFieldIsWritten(t *testing.T) {
	for _, v := range []any{&Function{}, &Everywhere{}, &FunctionBody{}, &ChainSpec{}} {
		value := reflect.ValueOf(v).Elem()
		fill(value)
		text, err := json.Marshal(value.Interface())
		if err != nil {
			t.Fatal(err)
		}
		var object map[string]any
		if err := json.Unmarshal(text, &object); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		for _, name := range written(value.Type()) {
			unsaid := name == "replicas" && value.Type() == reflect.TypeFor[Everywhere]()
			if _, has := object[name]; has == unsaid {
				t.Errorf("%s: %s is there: %v, in %s", value.Type(), name, has, text)
			}
		}
	}
}

// TestWithPutsEveryFieldOnTop of a load: one that is forgotten could not be said for --quick.
func TestWithPutsEveryFieldOnTop(t *testing.T) {
	var over Load
	fill(reflect.ValueOf(&over).Elem())
	equal(t, "load", Load{}.With(over), over)
	equal(t, "load with nothing on top", over.With(Load{}), over)
}

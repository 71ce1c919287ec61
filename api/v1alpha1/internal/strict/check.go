package strict

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"nfchain.dev/nfchain/api/v1alpha1/internal/nearest"
)

// Check holds the fields of a struct, given by a pointer, to their tags as
// decoding does, for values that do not come from a file. It looks at numbers,
// text and lists of text that are direct fields of the struct.
func Check(target any, report func(path, message string)) {
	v := reflect.ValueOf(target).Elem()
	f := New().fields(v.Type())
	for _, field := range f.list {
		field.rule.check(field.name, v.FieldByIndex(field.index), report)
	}
}

func (r rule) check(path string, v reflect.Value, report func(path, message string)) {
	var wrong string
	switch {
	case r.unset && v.IsZero():
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			r.check(path+"["+strconv.Itoa(i)+"]", v.Index(i), report)
		}
	case v.Kind() == reflect.String:
		wrong = r.word(v.String())
	case v.CanInt():
		wrong = r.bounds(float64(v.Int()), fmt.Sprint(v.Int()))
	case v.CanUint():
		wrong = r.bounds(float64(v.Uint()), fmt.Sprint(v.Uint()))
	}
	if wrong != "" {
		report(path, wrong)
	}
}

// word holds text to the enum.
func (r rule) word(text string) string {
	if len(r.enum) == 0 || slices.Contains(r.enum, text) {
		return ""
	}
	return Quote(text) + " is not known here" + nearest.Hint(text, r.enum)
}

package strict

import (
	"math"
	"reflect"
)

// replaceLost puts another value into each field that could not be decoded.
func (d *Decoder) replaceLost(path string, v reflect.Value, f *fields) {
	for _, field := range f.list {
		if d.spoilt[Join(path, field.name)] {
			replace(v.FieldByIndex(field.index))
		}
	}
}

// replace changes a value to one that it hardly has: as large as can be, there
// instead of absent.
func replace(v reflect.Value) {
	switch {
	case v.CanInt():
		v.SetInt(math.MaxInt64 >> (64 - v.Type().Bits()))
	case v.CanUint():
		v.SetUint(math.MaxUint64 >> (64 - v.Type().Bits()))
	case v.CanFloat():
		v.SetFloat(math.MaxFloat32)
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "?")
	case v.Kind() == reflect.Slice && v.Len() == 0:
		v.Set(reflect.Append(v, fresh(v.Type().Elem()).Elem()))
	case v.Kind() == reflect.Slice:
		v.SetZero()
	case v.Kind() == reflect.Pointer && v.IsNil():
		v.Set(fresh(v.Type().Elem()))
	case v.Kind() == reflect.Pointer:
		replace(v.Elem())
	}
}

package v1alpha1

import (
	"encoding"
	"encoding/json"
	"reflect"

	"github.com/invopop/jsonschema"
)

// What the units' types read, as JSON Schema has it.
const (
	numberPattern   = `^[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)? ?`
	ratePattern     = numberPattern + `([kKmMgGtT]?([bB][iI][tT](/s)?|bps))?$`
	loadPattern     = numberPattern + `([kKmMgGtT]?([bB][iI][tT](/s)?|bps)|[kKmMgG]?[pP][pP][sS])?$`
	sizePattern     = numberPattern + `(B|[kKMG]B|[KMG]iB)?$`
	durationPattern = `^(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+)$`
	cpuListPattern  = ` *[0-9]+(-[0-9]+)?( *, *[0-9]+(-[0-9]+)?)* *`
	markPattern     = `^(0[xX][0-9a-fA-F]{1,8}|[0-9]+)$`
	shareText       = `^[0-9]+(\.[0-9]+)?%$`
)

// spelled says how values of the units' types are written, with the unit of a bare number.
var spelled = map[reflect.Type]string{
	reflect.TypeFor[Rate]():     "rate, bit/s: 10Mbit",
	reflect.TypeFor[LoadRate](): "rate, bit/s or frames: 10Mbit, 100kpps",
	reflect.TypeFor[Size]():     "size, bytes: 64KiB",
	reflect.TypeFor[CPUs]():     "none, exclusive or shared: LIST",
	reflect.TypeFor[Share]():    "share: 50%",
	reflect.TypeFor[Mark]():     "mark, decimal or hexadecimal: 0x10",
	reflect.TypeFor[Duration](): "time with its unit: 50ms",
}

// scalarSchema describes the types that are written as one word or number; nil
// leaves a type to be described by what it is made of.
func scalarSchema(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[Rate]():
		return textOrNumber(ratePattern)
	case reflect.TypeFor[LoadRate]():
		return textOrNumber(loadPattern)
	case reflect.TypeFor[Size]():
		return textOrNumber(sizePattern)
	case reflect.TypeFor[CPUs]():
		return cpusSchema()
	case reflect.TypeFor[Share]():
		return &jsonschema.Schema{Type: "string", Pattern: shareText}
	case reflect.TypeFor[Mark]():
		return textOrNumber(markPattern)
	case reflect.TypeFor[Duration]():
		return &jsonschema.Schema{Type: "string", Pattern: durationPattern}
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return textOrNumber("")
	}
	return nil
}

func textOrNumber(pattern string) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "string", Pattern: pattern},
		{Type: "integer", Minimum: json.Number("0")},
	}}
}

// cpusSchema is a word, or a list of CPUs under a word.
func cpusSchema() *jsonschema.Schema {
	shared := jsonschema.NewProperties()
	shared.Set("shared", textOrNumber("^"+cpuListPattern+"$"))
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "string", Pattern: "^(none|exclusive|shared:" + cpuListPattern + ")$"},
		{Type: "object", Properties: shared, Required: []string{"shared"}, AdditionalProperties: jsonschema.FalseSchema},
	}}
}

package strict

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/api/v1alpha1/internal/tree"
)

// text hands a scalar, quoted or not, to a type that reads text.
func (d *Decoder) text(n *tree.Node, path string, v reflect.Value) {
	if _, is := v.Addr().Interface().(Phrase); is {
		n = phrase(n)
	}
	if n.Kind == tree.List || n.Kind == tree.Map {
		d.expect(n, tree.Text, path)
		return
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Text)); err != nil {
		d.spoil(n.Pos, path, err.Error())
	}
}

// Phrase is a type whose text may be a word and a value, which YAML takes for a mapping
// of one key.
type Phrase interface{ IsPhrase() }

// phrase is a mapping of one key to a scalar as the text that it is written as.
func phrase(n *tree.Node) *tree.Node {
	if n.Kind != tree.Map || len(n.Entries) != 1 {
		return n
	}
	e := n.Entries[0]
	if e.Value.Kind == tree.List || e.Value.Kind == tree.Map {
		return n
	}
	return &tree.Node{Pos: n.Pos, Kind: tree.Text, Text: e.Key + ": " + e.Value.Text}
}

func (d *Decoder) scalar(n *tree.Node, path string, v reflect.Value, r rule) {
	var wrong string
	switch {
	case v.Kind() == reflect.String:
		wrong = setText(n, v, r)
	case v.Kind() == reflect.Bool:
		wrong = setBool(n, v)
	case v.CanInt():
		wrong = setInt(n, v, r)
	case v.CanUint():
		wrong = setUint(n, v, r)
	case v.CanFloat():
		wrong = setFloat(n, v, r)
	default:
		wrong = fmt.Sprintf("cannot be read from a file (%s)", v.Type())
	}
	if wrong != "" {
		d.spoil(n.Pos, path, wrong)
	}
}

func setText(n *tree.Node, v reflect.Value, r rule) string {
	switch n.Kind {
	case tree.Text:
	case tree.List, tree.Map:
		return "text is expected, found " + found(n)
	default:
		return fmt.Sprintf("text is expected, found %s; put it in quotes: %q", found(n), n.Text)
	}
	v.SetString(n.Text)
	return r.word(n.Text)
}

func setBool(n *tree.Node, v reflect.Value) string {
	if n.Kind != tree.Bool {
		return "true or false is expected, found " + found(n)
	}
	v.SetBool(n.Text == "true")
	return ""
}

func setInt(n *tree.Node, v reflect.Value, r rule) string {
	if n.Kind != tree.Whole {
		return "a whole number is expected, found " + found(n)
	}
	i, err := strconv.ParseInt(n.Text, 10, v.Type().Bits())
	if err != nil {
		return Quote(n.Text) + " is too large a number"
	}
	v.SetInt(i)
	return r.bounds(float64(i), n.Text)
}

func setUint(n *tree.Node, v reflect.Value, r rule) string {
	if n.Kind != tree.Whole || n.Text[0] == '-' {
		return "a whole number, not negative, is expected, found " + found(n)
	}
	u, err := strconv.ParseUint(trimPlus(n.Text), 10, v.Type().Bits())
	if err != nil {
		return Quote(n.Text) + " is too large a number"
	}
	v.SetUint(u)
	return r.bounds(float64(u), n.Text)
}

func setFloat(n *tree.Node, v reflect.Value, r rule) string {
	if n.Kind != tree.Whole && n.Kind != tree.Real {
		return "a number is expected, found " + found(n) + r.share(n)
	}
	f, err := strconv.ParseFloat(n.Text, v.Type().Bits())
	if err != nil || math.IsInf(f, 0) {
		return Quote(n.Text) + " is too large a number"
	}
	v.SetFloat(f)
	return r.bounds(f, n.Text)
}

func trimPlus(text string) string {
	if text[0] == '+' {
		return text[1:]
	}
	return text
}

func (r rule) bounds(v float64, text string) string {
	switch {
	case r.min != nil && v < *r.min:
		return fmt.Sprintf("%s is too small; at least %v", text, number(*r.min))
	case r.max != nil && v > *r.max:
		return fmt.Sprintf("%s is too large; at most %v", text, number(*r.max))
	}
	return ""
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// anything decodes a node with no type to go by: string, bool, int, float64,
// []any or map[string]any.
func (d *Decoder) anything(n *tree.Node, path string) any {
	var out reflect.Value
	switch n.Kind {
	case tree.Null:
		return nil
	case tree.Bool:
		return n.Text == "true"
	case tree.Whole:
		out = reflect.New(reflect.TypeFor[int]())
	case tree.Real:
		out = reflect.New(reflect.TypeFor[float64]())
	case tree.List:
		out = reflect.New(reflect.TypeFor[[]any]())
	case tree.Map:
		out = reflect.New(reflect.TypeFor[map[string]any]())
	default:
		return n.Text
	}
	d.value(n, path, out.Elem(), rule{})
	return out.Elem().Interface()
}

// share ends a message about a share that is written in per cent: with how it is written.
func (r rule) share(n *tree.Node) string {
	if percent, is := strings.CutSuffix(n.Text, "%"); is && r.ofOne() {
		f, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
		if err == nil && !math.IsNaN(f) && r.bounds(f/100, n.Text) == "" {
			return "; write " + strconv.FormatFloat(f/100, 'g', 6, 64)
		}
	}
	return ""
}

// ofOne tells whether numbers are 1 at most.
func (r rule) ofOne() bool { return r.max != nil && *r.max <= 1 }

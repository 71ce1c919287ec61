package experiment

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// number reads a value of any numeric type: what YAML, JSON and Go make of the
// same digits differs (uint64, float64, int).
func number(v any) (float64, bool) {
	if n, is := v.(json.Number); is {
		f, err := n.Float64()
		return f, err == nil
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanUint():
		return float64(r.Uint()), true
	case r.CanFloat():
		return r.Float(), true
	}
	return 0, false
}

// whole reads a whole number from least to most.
func whole(v any, least, most int) (int, error) {
	f, is := number(v)
	if !is || f != math.Trunc(f) || f < float64(least) || f > float64(most) {
		return 0, fmt.Errorf("%v is not a whole number from %d to %d", v, least, most)
	}
	return int(f), nil
}

// text reads a string; a number stands for its digits, since YAML makes a
// number of an unquoted core list such as 0.
func text(v any) (string, error) {
	if s, is := v.(string); is {
		return s, nil
	}
	if f, is := number(v); is {
		return strconv.FormatFloat(f, 'f', -1, 64), nil
	}
	return "", fmt.Errorf("%v is not a text", v)
}

// oneOf reads one of the words.
func oneOf(v any, words ...string) (string, error) {
	if s, is := v.(string); is && slices.Contains(words, s) {
		return s, nil
	}
	return "", fmt.Errorf("%v is none of %s", v, strings.Join(words, ", "))
}

// boolean reads true or false.
func boolean(v any) (bool, error) {
	if b, is := v.(bool); is {
		return b, nil
	}
	return false, fmt.Errorf("%v is neither true nor false", v)
}

// quantity reads a bare number or a text with a unit.
func quantity(v any, parse func(string) (uint64, error)) (uint64, error) {
	if s, is := v.(string); is {
		return parse(s)
	}
	f, is := number(v)
	if !is || f < 0 || f != math.Trunc(f) || f >= math.MaxUint64 {
		return 0, fmt.Errorf("%v is neither a number nor a text with a unit", v)
	}
	return uint64(f), nil
}

// loadRate reads a bare number of bits per second or a text with a unit.
func loadRate(v any) (api.LoadRate, error) {
	if s, is := v.(string); is {
		return api.ParseLoadRate(s)
	}
	n, err := quantity(v, nil)
	return api.LoadRate{Bits: n}, err
}

func parseSize(s string) (uint64, error) {
	n, err := api.ParseSize(s)
	return uint64(n), err
}

package v1alpha1

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Rate is a bit rate in bits per second. It is written as a number with an
// optional unit: bit, kbit, Mbit, Gbit, Tbit (powers of 1000, as tc(8) has
// them), each with or without "/s" or "ps", or bare bits per second.
type Rate uint64

// Size is a number of bytes. It is written as a number with an optional unit:
// B, kB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024).
type Size uint64

// Duration is a length of time, written as Go does: 500ms, 30s, 2m, 1h30m.
type Duration time.Duration

type unit struct {
	name   string
	factor float64
}

var rateUnits = []unit{{"bit", 1}, {"kbit", 1e3}, {"Mbit", 1e6}, {"Gbit", 1e9}, {"Tbit", 1e12}}

var sizeUnits = []unit{
	{"B", 1}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30},
}

// parseQuantity reads "12.5Mbit" by the units given; a bare number counts in
// the first of them.
func parseQuantity(text, what, example string, units []unit) (uint64, error) {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	suffix := text[len(number):]
	factor := 0.0
	if suffix == "" {
		factor = 1
	}
	for _, u := range units {
		if strings.EqualFold(u.name, suffix) && (u.name == suffix || !strings.EqualFold(suffix, "kb")) {
			factor = u.factor
		}
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || factor == 0 || value < 0 || math.IsNaN(value) || value*factor >= math.MaxUint64 {
		return 0, fmt.Errorf("%q is not a %s; write a number with a unit, such as %s", text, what, example)
	}
	return uint64(math.Round(value * factor)), nil
}

// ParseRate reads a bit rate, as [Rate] describes.
func ParseRate(text string) (Rate, error) {
	bare := strings.TrimSuffix(text, "/s")
	if bare == text && strings.HasSuffix(strings.ToLower(text), "bps") {
		bare = strings.TrimSuffix(text[:len(text)-3]+"bit", " ")
	}
	n, err := parseQuantity(bare, "bit rate", "10Gbit", rateUnits)
	if err != nil {
		return 0, fmt.Errorf("%q is not a bit rate; write a number with a unit, such as 10Gbit", text)
	}
	return Rate(n), nil
}

// ParseSize reads a number of bytes, as [Size] describes.
func ParseSize(text string) (Size, error) {
	n, err := parseQuantity(text, "size", "64KiB", sizeUnits)
	return Size(n), err
}

// UnmarshalText reads what [ParseRate] reads.
func (r *Rate) UnmarshalText(text []byte) (err error) { *r, err = ParseRate(string(text)); return err }

// UnmarshalText reads what [ParseSize] reads.
func (s *Size) UnmarshalText(text []byte) (err error) { *s, err = ParseSize(string(text)); return err }

// UnmarshalText reads a duration as [time.ParseDuration] does; a negative one is refused.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration; write a number with a unit, such as 30s", text)
	}
	*d = Duration(v)
	return nil
}

// String writes the rate in the largest unit that loses nothing.
func (r Rate) String() string {
	for i := len(rateUnits) - 1; i > 0; i-- {
		if f := uint64(rateUnits[i].factor); uint64(r) >= f && uint64(r)%f == 0 {
			return strconv.FormatUint(uint64(r)/f, 10) + rateUnits[i].name
		}
	}
	return strconv.FormatUint(uint64(r), 10) + "bit"
}

// String writes the size in the largest binary unit that loses nothing.
func (s Size) String() string {
	for i := len(sizeUnits) - 1; i > 4; i-- {
		if f := uint64(sizeUnits[i].factor); uint64(s) >= f && uint64(s)%f == 0 {
			return strconv.FormatUint(uint64(s)/f, 10) + sizeUnits[i].name
		}
	}
	return strconv.FormatUint(uint64(s), 10) + "B"
}

// String writes the duration as Go does.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes what UnmarshalText reads.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// MarshalText writes what UnmarshalText reads.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalText writes what UnmarshalText reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalJSON reads a JSON string with a unit or a bare number.
func (r *Rate) UnmarshalJSON(b []byte) error { return r.UnmarshalText(bareScalar(b)) }

// UnmarshalJSON reads a JSON string with a unit or a bare number.
func (s *Size) UnmarshalJSON(b []byte) error { return s.UnmarshalText(bareScalar(b)) }

func bareScalar(b []byte) []byte {
	var text string
	if json.Unmarshal(b, &text) == nil {
		return []byte(text)
	}
	return b
}

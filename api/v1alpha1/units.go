package v1alpha1

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Rate is a bit rate in bits per second. It is written as a number with an
// optional unit in any case: bit, kbit, Mbit, Gbit, Tbit (powers of 1000, as
// tc(8) has them), each also with "/s" or as kbps, Mbps and so on, which are
// bits here. A bare number counts bits per second.
type Rate uint64

// LoadRate is a load offered, in bits or in frames per second; zero is no limit.
// It is written as a [Rate], or with the units pps, kpps, Mpps or Gpps.
type LoadRate struct{ Bits, Frames uint64 }

// Size is a number of bytes. It is written as a number with an optional unit:
// B, kB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024).
type Size uint64

// Duration is a length of time, written as Go does: 500ms, 30s, 2m, 1h30m.
type Duration time.Duration

// unit is a multiple, by the name it is printed with. Each list is ascending.
type unit struct {
	name   string
	factor uint64
}

var (
	rateUnits  = []unit{{"bit", 1}, {"kbit", 1e3}, {"Mbit", 1e6}, {"Gbit", 1e9}, {"Tbit", 1e12}}
	ppsUnits   = []unit{{"pps", 1}, {"kpps", 1e3}, {"Mpps", 1e6}, {"Gpps", 1e9}}
	sizeUnits  = []unit{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}
	sizeFactor = map[string]uint64{
		"": 1, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
	}
)

// A quantity is a number, perhaps with an exponent, and a unit.
var quantity = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?) ?([A-Za-z/]*)$`)

// ParseRate reads a bit rate, as [Rate] describes.
func ParseRate(text string) (Rate, error) {
	n, err := parseQuantity(text, "a bit rate", "10Gbit", rateFactor)
	return Rate(n), err
}

// ParseLoadRate reads a load, as [LoadRate] describes.
func ParseLoadRate(text string) (r LoadRate, err error) {
	if strings.HasSuffix(strings.ToLower(text), "pps") {
		r.Frames, err = parseQuantity(text, "a rate of frames", "100kpps", ppsFactor)
		return r, err
	}
	r.Bits, err = parseQuantity(text, "a bit rate or a rate of frames", "10Gbit or 100kpps", rateFactor)
	return r, err
}

func ppsFactor(name string) uint64 {
	for _, u := range ppsUnits {
		if strings.EqualFold(u.name, name) {
			return u.factor
		}
	}
	return 0
}

// ParseSize reads a number of bytes, as [Size] describes.
func ParseSize(text string) (Size, error) {
	n, err := parseQuantity(text, "a size", "64KiB", func(unit string) uint64 { return sizeFactor[unit] })
	return Size(n), err
}

// rateFactor is 0 for what is no unit of rate. A "Bps" would be bytes.
func rateFactor(name string) uint64 {
	if name == "" {
		return 1
	}
	if bare, ok := strings.CutSuffix(name, "/s"); ok {
		name = bare
	} else if prefix, ok := strings.CutSuffix(name, "bps"); ok {
		name = prefix + "bit"
	}
	for _, u := range rateUnits {
		if strings.EqualFold(u.name, name) {
			return u.factor
		}
	}
	return 0
}

// parseQuantity reads "12.5Mbit". What is not zero never becomes zero, since a
// zero means "unlimited" or "unset" to many a field.
func parseQuantity(text, what, example string, factorOf func(string) uint64) (uint64, error) {
	parts := quantity.FindStringSubmatch(text)
	factor := uint64(0)
	if parts != nil {
		factor = factorOf(parts[2])
	}
	if factor == 0 {
		return 0, fmt.Errorf("%s is not %s; write a number with a unit, such as %s", quote(text), what, example)
	}
	n, ok := multiply(parts[1], factor)
	if !ok {
		return 0, fmt.Errorf("%s is too large for %s", quote(text), what)
	}
	if n == 0 && strings.ContainsAny(strings.FieldsFunc(parts[1], isExponent)[0], "123456789") {
		return 0, fmt.Errorf("%s is too small for %s", quote(text), what)
	}
	return n, nil
}

func isExponent(r rune) bool { return r == 'e' || r == 'E' }

// multiply is exact for whole numbers and reports what does not fit in 63 bits.
func multiply(number string, factor uint64) (uint64, bool) {
	if whole, err := strconv.ParseUint(number, 10, 64); err == nil {
		over, n := bits.Mul64(whole, factor)
		return n, over == 0 && n <= math.MaxInt64
	}
	value, err := strconv.ParseFloat(number, 64)
	value = math.Round(value * float64(factor))
	if err != nil || value >= math.MaxInt64 {
		return 0, false
	}
	return uint64(value), true
}

// UnmarshalText reads what [ParseRate] reads.
func (r *Rate) UnmarshalText(text []byte) (err error) { *r, err = ParseRate(string(text)); return err }

// UnmarshalText reads what [ParseLoadRate] reads.
func (r *LoadRate) UnmarshalText(text []byte) (err error) {
	*r, err = ParseLoadRate(string(text))
	return err
}

// UnmarshalText reads what [ParseSize] reads.
func (s *Size) UnmarshalText(text []byte) (err error) { *s, err = ParseSize(string(text)); return err }

// UnmarshalText reads a duration as [time.ParseDuration] does; a negative one is refused.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return fmt.Errorf("%s is not a duration; write a number with a unit, such as 30s", quote(string(text)))
	}
	*d = Duration(v)
	return nil
}

// String writes the rate in the largest unit that loses nothing.
func (r Rate) String() string { return format(uint64(r), rateUnits) }

// String writes the load in the largest unit that loses nothing.
func (r LoadRate) String() string {
	if r.Frames > 0 {
		return format(r.Frames, ppsUnits)
	}
	return format(r.Bits, rateUnits)
}

// String writes the size in the largest binary unit that loses nothing.
func (s Size) String() string { return format(uint64(s), sizeUnits) }

// String writes the duration as Go does.
func (d Duration) String() string { return time.Duration(d).String() }

func format(n uint64, units []unit) string {
	largest := units[0]
	for _, u := range units[1:] {
		if n >= u.factor && n%u.factor == 0 {
			largest = u
		}
	}
	return strconv.FormatUint(n/largest.factor, 10) + largest.name
}

// MarshalText writes what UnmarshalText reads.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// MarshalText writes what UnmarshalText reads.
func (r LoadRate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// MarshalText writes what UnmarshalText reads.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalText writes what UnmarshalText reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalJSON reads a JSON string with a unit or a bare number.
func (r *Rate) UnmarshalJSON(b []byte) error { return r.UnmarshalText(bareScalar(b)) }

// UnmarshalJSON reads a JSON string with a unit or a bare number.
func (r *LoadRate) UnmarshalJSON(b []byte) error { return r.UnmarshalText(bareScalar(b)) }

// UnmarshalJSON reads a JSON string with a unit or a bare number.
func (s *Size) UnmarshalJSON(b []byte) error { return s.UnmarshalText(bareScalar(b)) }

// bareScalar takes the quotes off a JSON string and leaves a number as it is.
func bareScalar(b []byte) []byte {
	var text string
	if json.Unmarshal(b, &text) == nil {
		return []byte(text)
	}
	return b
}

package v1alpha1

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Repetition says how the repeats of a load go on beyond a fixed number.
type Repetition struct {
	// Until the 95% interval of every condition's main metric is at most this wide,
	// as a share of its centre, such as 2%; Repeats is then the least number.
	Until Share `json:"until,omitzero"`
	// MaxRepeats bounds the repeats where Until is set. Default 50.
	MaxRepeats int `json:"max_repeats,omitzero" jsonschema:"minimum=8,maximum=10000"`
	// Redeploy is how many times the chain is made anew, the Repeats spread evenly
	// over these instances. Unset: all repeats are on one instance.
	Redeploy int `json:"redeploy,omitzero" jsonschema:"minimum=2,maximum=10000"`
}

// defaultMaxRepeats bounds what Until may cost where the file does not.
const defaultMaxRepeats = 50

// MostRepeats of every condition that a load may come to.
func (l Load) MostRepeats() int {
	switch {
	case l.Until == 0:
		return l.Repeats
	case l.MaxRepeats == 0:
		return max(l.Repeats, defaultMaxRepeats)
	}
	return l.MaxRepeats
}

func (r Repetition) with(over Repetition) Repetition {
	replace(&r.Until, over.Until)
	replace(&r.MaxRepeats, over.MaxRepeats)
	replace(&r.Redeploy, over.Redeploy)
	return r
}

// checkRepetition finds what of a load's repeats does not go together.
func checkRepetition(l Load) []FieldProblem {
	var f findings
	if l.MaxRepeats > 0 && l.Until == 0 {
		f.addf("max_repeats", "it bounds what until asks for, and that is not given; write repeats for a fixed number")
	}
	if l.MaxRepeats > 0 && l.MaxRepeats < l.Repeats {
		f.addf("max_repeats", "%d is less than the %d repeats asked for", l.MaxRepeats, l.Repeats)
	}
	if l.Redeploy > 1 && l.Repeats%l.Redeploy != 0 {
		f.addf("redeploy", "%d repeats cannot be spread evenly over %d instances of the chain; write a multiple, such as repeats: %d",
			l.Repeats, l.Redeploy, l.Redeploy*max(2, l.Repeats/l.Redeploy+1))
	}
	return f
}

// Share is a part of a whole, 0.02 for 2%. It is written in per cent: 2%, 0.5%.
type Share float64

var sharePattern = regexp.MustCompile(shareText)

// ParseShare reads a share, as [Share] describes, of more than none and at most
// the whole.
func ParseShare(text string) (Share, error) {
	number, _ := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(number, 64)
	if !sharePattern.MatchString(text) || err != nil {
		return 0, fmt.Errorf("%s is not a share; write it in per cent, such as 2%%", quote(text))
	}
	if value <= 0 || value > 100 {
		return 0, fmt.Errorf("%s is not between 0%% and 100%%", quote(text))
	}
	return Share(value / 100), nil
}

// UnmarshalText reads what [ParseShare] reads.
func (s *Share) UnmarshalText(text []byte) (err error) {
	*s, err = ParseShare(string(text))
	return err
}

// String writes the share in per cent.
func (s Share) String() string { return strconv.FormatFloat(float64(s)*100, 'g', 12, 64) + "%" }

// MarshalText writes what UnmarshalText reads.
func (s Share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

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
	// StartAlone has the engine start the chain's containers by themselves, joined to nothing, before each making of the chain, of
	// which they are told the time (start_alone_ns).
	StartAlone bool `json:"start_alone,omitempty"`
	// Instances on which this load is measured, of those that Redeploy makes one after the other, counted from
	// 1, such as 3-4 or "1,2,5". Unset: on each.
	Instances string `json:"instances,omitzero"`
}

// maxInstances is how often Redeploy makes a chain.
const maxInstances = 10_000

// ParseInstances reads which instances of a chain a load is measured on, "1,3-4", in ascending order; none of an empty text.
func ParseInstances(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	all, beyond, ok := numbersListed(text, maxInstances)
	switch {
	case !ok:
		return nil, fmt.Errorf("%s is not a list of instances; write numbers and ranges from 1, such as 1,3-4", quote(text))
	case beyond > 0:
		return nil, fmt.Errorf("%s names instance %d, and no chain is made more than %d times", quote(text), beyond, maxInstances)
	case all[0] == 0:
		return nil, fmt.Errorf("%s has an instance 0; they count from 1", quote(text))
	}
	return all, nil
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

// Due is how many repeats there are of a condition, the least number where Until is set.
func (l Load) Due() int {
	on, err := ParseInstances(l.Instances)
	if err != nil || len(on) == 0 || l.Redeploy <= 1 {
		return l.Repeats
	}
	return l.Repeats / l.Redeploy * len(on)
}

func (r Repetition) with(over Repetition) Repetition {
	replace(&r.Until, over.Until)
	replace(&r.MaxRepeats, over.MaxRepeats)
	replace(&r.Redeploy, over.Redeploy)
	replace(&r.StartAlone, over.StartAlone)
	replace(&r.Instances, over.Instances)
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
	return append(f, checkInstances(l)...)
}

func checkInstances(l Load) []FieldProblem {
	var f findings
	if l.Instances == "" {
		return nil
	}
	on, err := ParseInstances(l.Instances)
	switch {
	case err != nil:
		f.add("instances", err.Error())
	case l.Redeploy <= 1:
		f.addf("instances", "the chain is made once; redeploy says how many times it is made anew")
	case on[len(on)-1] > l.Redeploy:
		f.addf("instances", "there is no instance %d of a chain that is made %d times (redeploy)", on[len(on)-1], l.Redeploy)
	case l.Until > 0:
		f.addf("instances", "with until nobody knows how many instances there will be; write repeats")
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

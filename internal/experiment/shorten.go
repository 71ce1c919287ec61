package experiment

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// Shortening bounds what the trials of an experiment take, where there is less time than
// its durations and repeats need. Neither bound goes below the experiment's quick load: an
// experiment without one stays as it is. The zero value bounds nothing.
type Shortening struct {
	// DurationS is the longest that a trial may last, s, and Repeats the most of a condition;
	// 0 for any.
	DurationS float64 `json:"most_duration_s,omitempty"`
	Repeats   int     `json:"most_repeats,omitempty"`
}

// Shortenings are those to try one after another, each of less than the one before. Trials
// get shorter before there are fewer of them: an interval rests on the repeats, and
// three of a minute tell less than ten of a second. With the last all have their quick load.
func Shortenings() []Shortening {
	all := []Shortening{{}}
	for _, duration := range []float64{20, 10, 5, 3, 2, 1} {
		all = append(all, Shortening{DurationS: duration})
	}
	for _, repeats := range []int{10, 8, 6, 5, 4, 3, 2, 1} {
		all = append(all, Shortening{DurationS: 1, Repeats: repeats})
	}
	return all
}

// String says what it does to any experiment; empty where that is nothing.
func (s Shortening) String() string {
	text := ""
	switch {
	case s.DurationS > 0 && s.Repeats > 0:
		text = fmt.Sprintf("trials are cut to %s and repeats to %d", seconds(s.DurationS), s.Repeats)
	case s.DurationS > 0:
		text = "trials are cut to " + seconds(s.DurationS)
	case s.Repeats > 0:
		text = fmt.Sprintf("repeats are cut to %d", s.Repeats)
	default:
		return ""
	}
	return text + " where an experiment's quick load permits"
}

func seconds(s float64) string { return time.Duration(s * float64(time.Second)).String() }

// Whole tells an experiment whose quick load is taken as it is or not at all, because it
// says more than a duration and a number of repeats: another search, or fewer instances of a chain.
func (Shortening) Whole(spec api.ExperimentSpec) bool {
	if spec.Quick == nil {
		return false
	}
	rest := *spec.Quick
	rest.Duration, rest.Repeats = 0, 0
	load := spec.Load
	return !reflect.DeepEqual(rest, api.Load{}) || load.Search != nil || load.Until > 0 || load.Redeploy > 0
}

// Load of an experiment within the bounds.
func (s Shortening) Load(spec api.ExperimentSpec) api.Load {
	load := spec.Load
	switch {
	case s == Shortening{} || spec.Quick == nil:
		return load
	case s.Whole(spec):
		return load.With(*spec.Quick)
	}
	if quick := spec.Quick.Duration; s.DurationS > 0 && quick > 0 {
		whole, most := load.Duration, max(quick, api.Duration(s.DurationS*float64(time.Second)))
		if whole == 0 {
			whole = load.DefaultDuration()
		}
		if most < whole {
			load.Duration = most
		}
	}
	if quick := spec.Quick.Repeats; s.Repeats > 0 && quick > 0 {
		load.Repeats = min(load.Repeats, max(quick, s.Repeats))
	}
	return load
}

// Told says by how much an experiment's load is shorter than its file has it; empty where it is not.
func (s Shortening) Told(spec api.ExperimentSpec) string {
	load := s.Load(spec)
	if reflect.DeepEqual(load, spec.Load) {
		return ""
	}
	if s.Whole(spec) {
		return "for want of time this is the experiment's quick load"
	}
	var parts []string
	if load.Duration != spec.Load.Duration {
		whole := spec.Load.Duration
		if whole == 0 {
			whole = spec.Load.DefaultDuration()
		}
		parts = append(parts, fmt.Sprintf("trials of %s, where the experiment has %s", time.Duration(load.Duration), time.Duration(whole)))
	}
	if load.Repeats != spec.Load.Repeats {
		parts = append(parts, fmt.Sprintf("%s, where it has %d", words.Plural(load.Repeats, "repeat"), spec.Load.Repeats))
	}
	return "shortened for want of time: " + strings.Join(parts, "; ")
}

// Shortened is what conditions cost with shorter trials and fewer repeats. It is not for an
// experiment whose quick load is taken whole: that has other conditions. One whose
// duration is varied keeps it.
func (t Trimming) Shortened(s Shortening) Trimming {
	load := s.Load(t.Spec)
	before, after := lengthOfTrials(t.Spec.Load), lengthOfTrials(load)
	conditions := make([]trial.Condition, len(t.Conditions))
	for i, c := range t.Conditions {
		if c.Search == nil && c.DurationS == before {
			c.DurationS = after
		}
		conditions[i] = c
	}
	t.Conditions, t.Repeats = conditions, load.Repeats
	return t
}

// lengthOfTrials under a load, s.
func lengthOfTrials(l api.Load) float64 {
	if l.Duration == 0 {
		l.Duration = l.DefaultDuration()
	}
	return time.Duration(l.Duration).Seconds()
}

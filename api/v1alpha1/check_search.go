package v1alpha1

import (
	"slices"
	"strings"
	"time"
)

// searchFields are fields of a search that only some methods have, with the ends
// of the methods' names.
var searchFields = []struct {
	name    string
	given   func(Search) bool
	methods []string
}{
	{"goals", func(s Search) bool { return len(s.Goals) > 0 }, []string{"mlrsearch", "throughput", "step_down", "latency", "recovery", "back_to_back", "tst009"}},
	{"throughput", func(s Search) bool { return s.Throughput != LoadRate{} }, []string{"latency", "recovery", "back_to_back"}},
	{"duration", func(s Search) bool { return s.Duration > 0 }, []string{"latency", "recovery", "frame_loss", "forwarding_rate"}},
	{"step_ratio", func(s Search) bool { return s.StepRatio > 0 }, []string{"step_down", "frame_loss", "forwarding_rate"}},
	{"repeats", func(s Search) bool { return s.Repeats > 0 }, []string{"latency", "recovery", "back_to_back"}},
	{"loss_trials", func(s Search) bool { return s.LossTrials > 0 }, []string{"tst009", "back_to_back"}},
	{"loss_frames", func(s Search) bool { return s.LossFrames > 0 }, []string{"tst009", "back_to_back"}},
	{"burst_max", func(s Search) bool { return s.BurstMax > 0 }, []string{"back_to_back"}},
	{"burst_step_frames", func(s Search) bool { return s.BurstStep > 0 }, []string{"back_to_back"}},
}

// SearchMethods are the methods of a search.
func SearchMethods() []string {
	return []string{
		"mlrsearch", "rfc2544_throughput", "rfc2544_step_down", "rfc2544_latency", "rfc2544_frame_loss", "rfc2544_recovery",
		"rfc9004_back_to_back", "rfc2889_forwarding_rate", "tst009",
	}
}

// checkSearch validates what tags cannot say.
func checkSearch(s *Search) []FieldProblem {
	var f findings
	if s == nil {
		return nil
	}
	for _, field := range searchFields {
		if slices.Contains(SearchMethods(), s.Method) && field.given(*s) && !hasField(s.Method, field.methods) {
			f.addf(field.name, "method %s has no such thing", s.Method)
		}
	}
	f.under("", checkSearchRates(*s))
	f.add("duration", tooLong(s.Duration))
	f.add("burst_max", tooLong(s.BurstMax))
	if s.Waits != nil {
		f.add("waits.learn", tooLong(s.Waits.Learn))
		f.add("waits.drain", tooLong(s.Waits.Drain))
		f.add("waits.settle", tooLong(s.Waits.Settle))
	}
	f.under("goals", checkGoals(*s))
	return f
}

func hasField(method string, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(method, end) })
}

func tooLong(d Duration) string {
	if time.Duration(d) > maxDuration {
		return d.String() + " is longer than a trial may take, " + maxDuration.String()
	}
	return ""
}

func checkSearchRates(s Search) []FieldProblem {
	var f findings
	for _, r := range []struct {
		name string
		rate LoadRate
	}{{"min_rate", s.MinRate}, {"max_rate", s.MaxRate}, {"medium_rate", s.MediumRate}, {"throughput", s.Throughput}} {
		if r.rate.Bits > 0 {
			f.addf(r.name, "%s is not a rate of frames; write one such as 100kpps", r.rate)
		}
	}
	low, high, known := s.MinRate.Frames, s.MaxRate.Frames, s.Throughput.Frames
	switch {
	case high > 0 && low > high:
		f.addf("min_rate", "%s is above max_rate, %s", s.MinRate, s.MaxRate)
	case known > 0 && (known < low || high > 0 && known > high):
		f.addf("throughput", "%s is not between min_rate and max_rate", s.Throughput)
	}
	return f
}

func checkGoals(s Search) []FieldProblem {
	var f findings
	if len(s.Goals) > 1 && s.Method != "mlrsearch" && slices.Contains(SearchMethods(), s.Method) {
		f.addf("", "method %s has one goal; mlrsearch takes several", s.Method)
	}
	for i, g := range s.Goals {
		path := item("", i)
		f.under(path, checkGoal(g))
		name := g.ResultName()
		if name != "" && slices.ContainsFunc(s.Goals[:i], func(other SearchGoal) bool { return other.ResultName() == name }) {
			f.addf(path+".name", "%s is already the name of a goal", quote(name))
		}
	}
	return f
}

// ResultName is the name of a goal in results.
func (g SearchGoal) ResultName() string {
	if g.Name == "" {
		return g.Like
	}
	return g.Name
}

func checkGoal(g SearchGoal) []FieldProblem {
	var f findings
	if g.ResultName() == "" {
		f.addf("", "has neither a name nor a goal it is like")
	}
	f.add("final_duration", tooLong(g.FinalDuration))
	f.add("duration_sum", tooLong(g.DurationSum))
	if g.FinalDuration > 0 && g.InitialDuration > g.FinalDuration {
		f.addf("initial_duration", "%s is above final_duration, %s", g.InitialDuration, g.FinalDuration)
	}
	if g.FinalDuration > 0 && g.DurationSum > 0 && g.DurationSum < g.FinalDuration {
		f.addf("duration_sum", "%s is below final_duration, %s", g.DurationSum, g.FinalDuration)
	}
	for i, l := range g.Limits {
		path := item("limits", i)
		switch {
		case l.Metric == "":
			f.addf(path+".metric", "is empty; write the name of a metric such as one_way_latency_p99_ns")
		case l.AtMost == nil && l.AtLeast == nil:
			f.addf(path, "has neither at_most nor at_least, so it would always hold")
		case l.AtMost != nil && l.AtLeast != nil && *l.AtLeast > *l.AtMost:
			f.addf(path+".at_least", "%v is above at_most, %v", *l.AtLeast, *l.AtMost)
		}
	}
	return f
}

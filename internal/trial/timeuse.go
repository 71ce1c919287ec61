package trial

// TimeUse is where the time of a run went, from its beginning to the end of its last
// trial, s. The time in which it lay still between an interruption and its going on is in
// none of it.
type TimeUse struct {
	WholeS float64 `json:"whole_s"`
	// TrialsS is what trials took with the starting and ending of their tools, LoadS how
	// long they were to offer load.
	TrialsS float64 `json:"trials_s"`
	LoadS   float64 `json:"load_s"`
	// Outside is the share of the whole between trials, Unloaded that without load: the
	// same, and what tools take before and after it.
	Outside  float64 `json:"outside_ratio"`
	Unloaded float64 `json:"unloaded_ratio"`
}

// TimeUse of a run; nil where its trials do not tell.
func (r Run) TimeUse() *TimeUse {
	var u TimeUse
	told := false
	for _, t := range r.Trials {
		load, is := r.loadOf(t)
		if !is {
			continue
		}
		told = told || t.OutsideS > 0
		u.WholeS += t.OutsideS + t.DurationS
		u.TrialsS += t.DurationS
		u.LoadS += load
	}
	if !told {
		return nil
	}
	u.Outside, u.Unloaded = 1-u.TrialsS/u.WholeS, max(0, 1-u.LoadS/u.WholeS)
	return &u
}

// loadOf is how long a trial was to offer load, s; none for what a search came to, which
// is no trial.
func (r Run) loadOf(t Trial) (seconds float64, is bool) {
	switch {
	case t.Condition < 0 || t.Condition >= len(r.Conditions):
		return 0, false
	case t.DurationS == 0: // it failed, and offered nothing
		return 0, true
	case t.Asked != nil:
		return t.Asked.DurationS, true
	}
	c := r.Conditions[t.Condition]
	return c.DurationS, c.Search == nil
}

package search

import (
	"fmt"
	"math"

	"nfchain.dev/nfchain/internal/trial"
)

func throughputClauses(r Result) []Clause {
	s := rfc2544("26.1")
	up := s.kept("after a trial without loss, the rate is raised (errata 422)")
	if r.Search.Method == trial.RFC2544StepDown {
		up = s.partly("after a trial without loss, the rate is raised (errata 422)",
			"the rate only goes down; the result is exact to one step")
	}
	return []Clause{mediumClause(r), finalTrial(r), lossless(r), up,
		found(s, r, "a rate without loss is found, and one above it that loses")}
}

// startClauses are about the throughput that a method starts from.
func startClauses(r Result) []Clause {
	if r.Search.ThroughputPps > 0 {
		return []Clause{rfc2544("26.1").partly("the throughput is measured first", "it was given")}
	}
	return []Clause{mediumClause(r), finalTrial(r), lossless(r)}
}

func latencyClauses(r Result) []Clause {
	s := rfc2544("26.2")
	tagged := s.kept("one tagged frame a trial is timed")
	if r.Latency == nil || r.Latency.Metric != TagLatency || len(r.Latency.Values) < r.Latency.Repeats {
		tagged = s.not("one tagged frame a trial is timed", "no single frame was timed in each trial")
	}
	if r.Latency != nil && r.Latency.Metric == MeanLatency && len(r.Latency.Values) == r.Latency.Repeats {
		tagged = s.partly("one tagged frame a trial is timed", "the mean over all frames of a trial stands for it")
	}
	repeats := len(sampled(r.Latency))
	return append(startClauses(r),
		whole(s.kept("the load is the throughput"), r.Latency),
		atLeast(s, r.Search.DurationS, 120),
		s.holds(r.Search.DurationS/2 >= 60, "the tagged frame is sent after 60 s", "it is sent after %v s", r.Search.DurationS/2),
		tagged,
		s.holds(repeats >= 20, "at least 20 repeats, of which the mean is reported", "%d repeats", repeats),
		s.kept("the definition of latency is stated (RFC 1242 §3.8): from when a frame was due to when its last bit arrived"))
}

// whole is a clause on a load that must have been sent.
func whole(c Clause, r *Repeated) Clause {
	if c.Status == Kept && r != nil && r.UnsentRatio > 0 {
		c.Status, c.Why = Partly, fmt.Sprintf("in a trial %.2g%% of it was not sent", 100*r.UnsentRatio)
	}
	return c
}

func sampled(r *Repeated) []float64 {
	if r == nil {
		return nil
	}
	return r.Values
}

func recoveryClauses(r Result) []Clause {
	s := rfc2544("26.5")
	over := s.holds(r.Recovery != nil, "an overload of 110% of the throughput, or all the medium carries", "there was none")
	if rate := startedFrom(r); r.Recovery != nil && r.Recovery.LoadPps < 1.1*rate*(1-1e-6) {
		over = s.partly("an overload of 110% of the throughput, or all the medium carries",
			fmt.Sprintf("the highest load allowed is %.3g of the throughput", r.Recovery.LoadPps/rate))
	}
	repeats := len(sampled(r.Recovery))
	return append(startClauses(r), whole(over, r.Recovery),
		s.holds(r.Search.DurationS >= 60, "the overload lasts at least 60 s", "it lasts %v s", r.Search.DurationS),
		s.kept("then half of that load, and the time to the last frame lost"),
		s.holds(repeats > 1, "repeated, and the mean reported", "%d repeats", repeats),
		section{"RFC 6815", "3"}.kept("run in a laboratory only: an overload harms a network in use"))
}

// startedFrom is the throughput of a method that starts from it.
func startedFrom(r Result) float64 {
	if r.Search.ThroughputPps > 0 {
		return r.Search.ThroughputPps
	}
	if len(r.Goals) > 0 && r.Goals[0].LowerPps != nil {
		return *r.Goals[0].LowerPps
	}
	return math.NaN()
}

func frameLossClauses(r Result) []Clause {
	s := rfc2544("26.3")
	return []Clause{mediumClause(r),
		atLeast(rfc2544("24"), r.Search.DurationS, 60),
		s.kept("the first trial is at the highest load"),
		s.holds(r.Search.StepRatio <= 0.1, "steps of at most 10%", "they are %v", r.Search.StepRatio),
		found(s, r, "down to two successive trials without loss"),
	}
}

func forwardingClauses(r Result) []Clause {
	s := section{"RFC 2889", "5.1"}
	return []Clause{
		s.holds(r.Search.DurationS >= 30, "trials of 30 s, unless stated", "they take %v s", r.Search.DurationS),
		s.holds(r.Search.DurationS >= 1 && r.Search.DurationS <= 300, "trials of 1 to 300 s", "they take %v s", r.Search.DurationS),
		found(s, r, "FRMOL and MFR are reported, each with its offered load"),
	}
}

func verifiedClauses(r Result) []Clause {
	s, g := section{"ETSI GS NFV-TST 009", "12.3"}, r.Search.Goals[0]
	loss := s.kept("halving over an array of rates, to one step")
	loss.Section = "12.3.2"
	again := s.kept(fmt.Sprintf("a rate that loses has up to %d trials, unless more than %v frames are lost",
		r.Search.LossTrials, r.Search.LossFrames))
	again.Section = "12.3.3"
	return []Clause{mediumClause(r), atLeast(rfc2544("24"), g.FinalDurationS, 60), loss, again,
		s.partly("the text of the standard is followed", "known here through RFC 9004, MLRsearch and reference code, not from the text itself"),
		found(s, r, "the highest rate without loss is found, and the next step loses")}
}

func backToBackClauses(r Result) []Clause {
	s := func(number string) section { return section{"RFC 9004", number} }
	repeats := len(r.BackToBack.Lengths)
	return append(startClauses(r),
		fasterClause(s("6.1"), r),
		s("6.2").holds(r.Search.Waits.DrainS >= 2, "at least 2 s after the burst was received", "%v s", r.Search.Waits.DrainS),
		s("6.2").kept("the longest burst is configurable, up to 30 s"),
		s("6.2").kept("halving with loss verification (TST 009)"),
		rfc2544("26.4").holds(repeats >= 50, "at least 50 repeats (RFC 9004 §6.3 has N, reported)", "%d repeats", repeats),
		found(s("6.4"), r, "average, minimum, maximum and deviation, and the buffer time implied and corrected"),
		s("7").kept("the number of repeats and the step of the length are reported"))
}

// fasterClause of RFC 9004 §6.1: what the medium carries must be more than the throughput, so
// that a burst fills a buffer. Where it is not known, the rate of the bursts stands for it.
func fasterClause(s section, r Result) Clause {
	text, b := "only frame sizes whose throughput is below what the medium carries", backToBack{r.Search}
	whose := "that were asked for"
	if r.Search.Reach {
		whose = "that the generator can send"
	}
	switch medium := r.Search.MediumPps; {
	case medium == 0:
		return s.partly(text, fmt.Sprintf("the medium has no such limit: the %.0f frames a second %s stand for it", b.full(), whose))
	case b.full() < medium:
		return s.partly(text, fmt.Sprintf("bursts come at %.0f frames a second, of %.0f that the medium carries", b.full(), medium))
	}
	return s.kept(text)
}

func mlrClauses(r Result) []Clause {
	s := func(number string) section { return section{"draft-ietf-bmwg-mlrsearch-15", number} }
	clauses := []Clause{
		s("4.5").kept("a trial is given a load and a duration only, and gives loss ratio, forwarding rate and effective duration"),
		s("4.5.2").kept("loads are of one interface and direction, and every name says its unit"),
		s("4.6").kept("every value of every goal is reported, the defaults too"),
		exceedClause(s("4.6.4"), r.Search.Goals),
		widthClause(s("4.6.5"), r.Search.Goals),
		sameClause(s("4.6.1"), r.Search.Goals),
		s("4.9.1").kept("what the generator did not send counts as lost"),
		s("A").kept("loads are classified as in Appendix A"),
		s("B").kept("conditional throughput is computed as in Appendix B"),
		s("4.8.4").kept("the relevant lower bound of each goal is reported, and a result that is not regular is marked"),
	}
	for _, g := range r.Search.Goals {
		clauses = append(clauses, equivalent(s("4.10.2"), g)...)
	}
	return clauses
}

func exceedClause(s section, goals []trial.Goal) Clause {
	text := "an exceed ratio of 0.5 is recommended"
	for _, g := range goals {
		if g.ExceedRatio != 0.5 {
			return s.partly(text, fmt.Sprintf("goal %s has %v", g.Name, g.ExceedRatio))
		}
	}
	return s.kept(text)
}

func widthClause(s section, goals []trial.Goal) Clause {
	text := "a relative width not below the loss ratio is recommended"
	for _, g := range goals {
		if g.WidthRatio < g.LossRatio {
			return s.partly(text, fmt.Sprintf("goal %s has width %v and loss %v", g.Name, g.WidthRatio, g.LossRatio))
		}
	}
	return s.kept(text)
}

func sameClause(s section, goals []trial.Goal) Clause {
	text := "all goals should have the same final trial duration"
	for _, g := range goals {
		if g.FinalDurationS != goals[0].FinalDurationS {
			return s.partly(text, "they differ, so that trials longer than a goal's own count for it")
		}
	}
	return s.kept(text)
}

// equivalent says of a goal without loss whether it is RFC 2544's throughput.
func equivalent(s section, g trial.Goal) []Clause {
	if g.LossRatio > 0 || len(g.Limits) > 0 {
		return nil
	}
	text := "goal " + g.Name + " gives the throughput of RFC 2544"
	switch {
	case g.ExceedRatio > 0:
		return []Clause{s.not(text, "its exceed ratio is above 0")}
	case g.FinalDurationS < 60:
		return []Clause{s.partly(text, fmt.Sprintf("its trials take %v s, not 60 s", g.FinalDurationS))}
	}
	return []Clause{s.kept(text)}
}

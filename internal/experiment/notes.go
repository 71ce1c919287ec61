package experiment

import (
	"fmt"
	"math"

	"nfchain.dev/nfchain/internal/model"
)

// notes are what is to be read beside a fit; why is the reason that its error at what it
// was not fitted to cannot be had, if there is one.
func (s series) notes(why error) []string {
	notes := []string{s.methodNote()}
	if s.m.Kind == model.LossPerHop && s.over == "length" {
		notes = append(notes, s.readingsNote())
	}
	if note := s.kindNote(); note != "" {
		notes = append(notes, note)
	}
	notes = append(notes, s.errorNote(), s.heldOutNote(why))
	if len(s.missing) > 0 {
		notes = append(notes, fmt.Sprintf("no trials yet of %s %s", s.over, list(s.missing)))
	}
	return notes
}

// methodNote says how the uncertainty of a fit was had, and where it holds.
func (s series) methodNote() string {
	note := fmt.Sprintf("least squares on the logarithm of %d trials at %s %s; beyond them it is stretched", s.fit.Trials, s.over, list(s.fittedValues()))
	if s.fit.Degrees < 1 {
		return note + "; too few trials for intervals"
	}
	return note + fmt.Sprintf("; 95%% intervals are Student's t of the fit with %d degrees of freedom (delta method), "+
		"and suppose that trials scatter by the same share everywhere (by %s here)", s.fit.Degrees, percent(s.fit.Scatter))
}

// readingsNote gives both ways in which Livi et al. §IV-C count k. Their example
// is for n = 5; without that length, the longest fitted one serves.
func (s series) readingsNote() string {
	at := s.fit.Points[0]
	for _, p := range s.fit.Points {
		if at.X != 5 && (p.Fitted || p.X == 5) {
			at = p
		}
	}
	return fmt.Sprintf("k = n−2 is fitted, as the source's step from n = 2 to 3 counts; its example for n = 5 counts k = n−1. "+
		"At n = %s: k = n−2 predicts %s, k = n−1 predicts %s with the same t(2) and l, measured %s",
		short(at.X), amount(s.m.Metric, s.fit.At(at.X, 1)), amount(s.m.Metric, s.fit.At(at.X+1, 1)), amount(s.m.Metric, at.Measured))
}

// kindNote says what the parameters of a kind mean.
func (s series) kindNote() string {
	switch s.m.Kind {
	case model.Fading:
		return fmt.Sprintf("a step loses r/(1+c·x) of what comes: l_first is the share lost with the first, l_last with the last that was fitted (%s %s); c = 0 is a loss that does not fade, c = r a cost that adds up",
			s.over, short(s.fittedValues()[len(s.fittedValues())-1]))
	case model.SharedCores:
		return fmt.Sprintf("C = %s cores; send, per_hop and receive are one core's time for a unit of work, the maximum is soft (the 8-norm), and hops run on the sender's core", short(s.Cores))
	case model.USL:
		return s.peakNote()
	case model.TwoFactor:
		return "l_ovs is that of the model " + s.m.From + ", whose uncertainty is in l_ns too"
	case model.ContainerStep:
		return "the place of the jump was chosen by trying, which the intervals do not know"
	}
	return ""
}

// peakNote says at how many flows the law has its greatest value.
func (s series) peakNote() string {
	sigma, _ := s.fit.Param("sigma")
	kappa, _ := s.fit.Param("kappa")
	if kappa.CI95 == nil || kappa.CI95[0] <= 0 || sigma.Value >= 1 {
		return "σ is what waits for one another, κ what has to agree; that the law peaks, which takes κ above 0, cannot be told"
	}
	return fmt.Sprintf("σ is what waits for one another, κ what has to agree; the law peaks at √((1−σ)/κ) = %s %s", short(math.Sqrt((1-sigma.Value)/kappa.Value)), s.over)
}

// errorNote gives the largest error over the fitted values.
func (s series) errorNote() string {
	if err := s.enough(); err != nil {
		return err.Error()
	}
	e := s.fit.MaxError
	note := fmt.Sprintf("largest relative error over the fitted values of %s %s", s.over, percent(e.Value))
	if ci := e.CI95; ci != nil {
		note += fmt.Sprintf(" (95%% interval %s to %s, by Bonferroni, which errs on the wide side)", percent(ci[0]), percent(ci[1]))
	}
	return note
}

// heldOutNote says what the error at values that were not fitted is of.
func (s series) heldOutNote(why error) string {
	if why != nil {
		return "its error at what it was not fitted to cannot be had: " + plainly(why)
	}
	var left []float64
	for _, l := range s.Levels {
		if l.Left {
			left = append(left, l.X)
		}
	}
	if len(left) == 0 {
		return fmt.Sprintf("the held-out error is that at each value of %s in turn, from a fit without it", s.over)
	}
	return fmt.Sprintf("the held-out error is that at %s %s, which was left out of the fit", s.over, list(left))
}

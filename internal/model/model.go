// Package model fits the models that the source documents and the field propose to
// what was measured, with the uncertainty of what is fitted, and tells how well they
// foretell what they were not fitted to. It is pure: samples in, numbers out.
package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"nfchain.dev/nfchain/internal/stats"
)

// ErrNoFit is returned where the samples do not determine a model.
var ErrNoFit = errors.New("no fit")

// The kinds of model. x is what is varied less [Series.Zero], t a rate, d a time.
const (
	// LossPerHop: t = t(0)·(1−l)^x (Livi et al. 2016 §IV-C).
	LossPerHop = "loss_per_hop"
	// TwoFactor: t = t(0)·((1−l_ovs)(1−l_ns))^x (Livi et al. 2016 §IV-C), l_ovs known.
	TwoFactor = "two_factor"
	// Fading: the share lost with each step is r/(1 + c·x), so that
	// t = t(0)·(1 + c·x)^(−r/c). With c = 0 it is [LossPerHop], with c = r [CostPerHop].
	Fading = "fading"
	// CostPerHop: 1/t = 1/t(0) + c·x, costs that add up on cores that are full.
	CostPerHop = "cost_per_hop"
	// SharedCores: each flow has a sender, which takes its packets through all hops, and
	// a receiver, and all of them share the cores; see [sharedCores].
	SharedCores = "shared_cores"
	// USL: t(N) = λN/(1 + σ(N−1) + κN(N−1)) (Gunther 1993, 2007 §4).
	USL = "usl"
	// PerRule, PerContainer and DelayPerHop: d = d(0) + c·x, and of a rate
	// 1/t = 1/t(0) + c·x.
	PerRule      = "per_rule"
	PerContainer = "per_container"
	DelayPerHop  = "delay_per_hop"
	// ContainerStep is [PerContainer] with one jump, wherever it fits best.
	ContainerStep = "container_step"
)

// Level is one setting of what is varied, with what its trials measured.
type Level struct {
	// X is the value of what is varied: namespaces, flows, rules, containers.
	X float64
	// Flows at once; only [SharedCores] looks at them.
	Flows float64
	// Y is one value per trial, all in one unit, above zero.
	Y []float64
	// Left levels are left out of the fit, and only compared with it.
	Left bool
}

// Series is what a model is fitted to.
type Series struct {
	Kind string
	// Zero is the value of X that the model counts from: 2 for a length, which is
	// where nothing is between the ends.
	Zero float64
	// Rate tells that Y is a rate, whose inverse is a cost; else it is a time.
	Rate bool
	// Cores that all share, of [SharedCores].
	Cores float64
	// Switch and Namespace are what [TwoFactor] knows of its factors: the first it
	// needs, without the second it fits that.
	Switch, Namespace *Step
	Levels            []Level
}

// The dimensions of a parameter.
const (
	Share = ""      // of something, without unit
	Value = "value" // of the metric
	Cost  = "cost"  // the inverse of a rate, or a time
	Count = "count" // of what is varied
)

// Param is one parameter, in units made of the metric's: seconds a bit for a bit rate.
type Param struct {
	Name, Dimension string
	stats.Estimate
}

// Predicted is one level, as measured and as the model has it.
type Predicted struct {
	X, Flows float64
	// Measured is the mean of the trials.
	Measured  float64
	Predicted float64
	// RelativeError is Predicted/Measured − 1.
	RelativeError float64
	// Fitted is false for levels that were left out of the fit.
	Fitted bool
}

// Fitted is a model with its parameters.
type Fitted struct {
	Params []Param
	// Points are all levels given, in ascending order, fitted or not.
	Points []Predicted
	// MaxError is the largest absolute relative error over the fitted levels.
	// Its interval is absent with fewer than two trials at a fitted level.
	MaxError stats.Estimate
	// Trials at the fitted levels, and Degrees of freedom that they leave.
	Trials, Degrees int
	// Scatter of the trials about the curve, as a share (standard deviation of the
	// logarithm); NaN without degrees of freedom.
	Scatter float64

	form  form
	theta []float64
	step  Step
}

// Step is what is left of a rate after one step of [LossPerHop]: the logarithm of the
// share, and the variance of that.
type Step struct {
	Log, Variance float64
	// Lost is the share lost, with its interval.
	Lost stats.Estimate
}

// Step is what one step of a fitted [LossPerHop] leaves; nil of other kinds.
func (f Fitted) Step() *Step {
	if f.step == (Step{}) {
		return nil
	}
	return &f.step
}

// At is the model's value at a value of what is varied, and so many flows.
func (f Fitted) At(x, flows float64) float64 {
	return math.Exp(f.form.log(f.theta, Level{X: x, Flows: flows}))
}

// Param is the parameter of a name.
func (f Fitted) Param(name string) (Param, bool) {
	i := slices.IndexFunc(f.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return Param{}, false
	}
	return f.Params[i], true
}

// Fit fits a model by least squares on the logarithm of every trial, so that errors are
// taken as shares of the value. Errors wrap [ErrNoFit] and say what is missing.
//
// Intervals are Student's t by the delta method, with the scatter of the trials about
// the curve as the error, so that what the model misses widens them too; they suppose
// that trials scatter by the same share at every level. Each parameter is estimated on
// the scale on which the model is closest to linear in it, and carried from there. Where a
// place was chosen by trying, intervals take in those of all places that fit as well.
func Fit(s Series) (Fitted, error) {
	d, err := prepare(s)
	if err != nil {
		return Fitted{}, err
	}
	inside := d.inside()
	theta, form, err := d.solve(inside, d.means, nil)
	if err != nil {
		return Fitted{}, err
	}
	c := d.curve(form, theta, inside)
	if c.covariance == nil {
		return Fitted{}, fmt.Errorf("%w: the trials do not tell its parameters apart", ErrNoFit)
	}
	f := Fitted{Trials: c.trials, Degrees: int(c.degrees()), Scatter: math.Sqrt(c.variance), form: form, theta: theta}
	for _, p := range form.params {
		f.Params = append(f.Params, Param{p.name, p.dimension, c.interval(p)})
	}
	d.widen(&f, c, inside)
	for i := range d.levels {
		f.Points = append(f.Points, d.predicted(i, form, theta))
	}
	f.MaxError = c.largestError()
	if s.Kind == LossPerHop {
		f.step = c.step(f.Params)
	}
	return f, nil
}

// Parameters is how many a kind fits; a fit takes as many levels, and one more to
// be wrong anywhere.
func Parameters(s Series) int {
	forms := formsOf(s, s.Levels)
	if len(forms) == 0 {
		return fewest[s.Kind]
	}
	return forms[0].parameters + forms[0].places
}

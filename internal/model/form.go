package model

import "math"

// form is a model as a function: the logarithm of what it has at a level, of
// parameters that are scaled so that each is about 1. It is NaN or infinite where the
// model has no value.
type form struct {
	log func(theta []float64, l Level) float64
	// parameters is the length of theta, and places how many more were chosen by
	// trying, such as where a jump is.
	parameters, places int
	// starts are where to look for theta, less its first element, which is the
	// logarithm of a size; wholly given where sized is false.
	starts [][]float64
	sized  bool
	// corners tells that derivatives do not lead to the best from everywhere.
	corners bool
	params  []param
}

// param is what is reported: a function of theta, taken where it is closest to linear,
// and carried from there.
type param struct {
	name, dimension string
	inner           func(theta []float64) float64
	through         func(float64) float64
	// more variance of inner, of what is known from elsewhere.
	more float64
	// known is a parameter that was not fitted.
	known *Param
}

func same(x float64) float64 { return x }

// lost is the share lost, of the logarithm of what is kept.
func lost(log float64) float64 { return -math.Expm1(log) }

// formsOf are the forms that a kind has for such levels, the best of which counts.
func formsOf(s Series, levels []Level) []form {
	x := func(l Level) float64 { return l.X - s.Zero }
	reach := 0.0
	for _, l := range levels {
		reach = max(reach, x(l))
	}
	if reach == 0 {
		reach = 1
	}
	switch s.Kind {
	case LossPerHop:
		return []form{powerLaw(x, reach)}
	case TwoFactor:
		return []form{twoFactor(s, x, reach)}
	case Fading:
		return []form{fading(x, reach)}
	case USL:
		return []form{scalability(levels)}
	case SharedCores:
		return []form{sharedCores(s, x, reach, levels)}
	case CostPerHop, PerRule, PerContainer, DelayPerHop:
		return []form{adding(s, x, reach, nil)}
	case ContainerStep:
		return stepping(s, x, reach, levels)
	}
	return nil
}

// sizeParam is the value at x = 0, whose logarithm is the first element of theta.
func sizeParam(name string) param {
	return param{name: name, dimension: Value, inner: func(t []float64) float64 { return t[0] }, through: math.Exp}
}

// atZero names the value at x = 0: "t2" for lengths, which count from 2.
func atZero(s Series) string {
	switch {
	case s.Zero == 2 && s.Rate:
		return "t2"
	case s.Zero == 2:
		return "d2"
	case s.Rate:
		return "t0"
	}
	return "d0"
}

func powerLaw(x func(Level) float64, reach float64) form {
	return form{
		log:        func(t []float64, l Level) float64 { return t[0] + t[1]*x(l)/reach },
		parameters: 2, sized: true, starts: [][]float64{{-0.5}},
		params: []param{
			{name: "t2", dimension: Value, inner: func(t []float64) float64 { return t[0] }, through: math.Exp},
			{name: "l", inner: func(t []float64) float64 { return t[1] / reach }, through: lost},
		},
	}
}

// twoFactor is a power law of which one factor is known, or both.
func twoFactor(s Series, x func(Level) float64, reach float64) form {
	if s.Switch == nil {
		return form{}
	}
	ovs := param{name: "l_ovs", known: &Param{Name: "l_ovs", Estimate: s.Switch.Lost}}
	if ns := s.Namespace; ns != nil {
		slope := s.Switch.Log + ns.Log
		return form{
			log:        func(t []float64, l Level) float64 { return t[0] + slope*x(l) },
			parameters: 1, sized: true, starts: [][]float64{{}},
			params: []param{sizeParam("t_in"), {name: "l_ns", known: &Param{Name: "l_ns", Estimate: ns.Lost}}, ovs},
		}
	}
	f := powerLaw(x, reach)
	f.params = []param{sizeParam("t_in"), {
		name: "l_ns", inner: func(t []float64) float64 { return t[1]/reach - s.Switch.Log }, through: lost, more: s.Switch.Variance,
	}, ovs}
	return f
}

// fading has the share r/(1 + c·x) lost at x, which integrates to
// ln t = ln t(0) − r·ln(1 + c·x)/c.
func fading(x func(Level) float64, reach float64) form {
	// kept is −ln of what is left after x.
	kept := func(t []float64, x float64) float64 { return t[1] * slowing(t[2], x) }
	step := func(from float64) func([]float64) float64 {
		return func(t []float64) float64 { return kept(t, from) - kept(t, from+1/reach) }
	}
	return form{
		log:        func(t []float64, l Level) float64 { return t[0] - kept(t, x(l)/reach) },
		parameters: 3, sized: true, starts: [][]float64{{0.5, 0}, {2, 1}, {2, 10}},
		params: []param{
			sizeParam("t2"),
			{name: "r", inner: func(t []float64) float64 { return t[1] / reach }, through: same},
			{name: "c", inner: func(t []float64) float64 { return t[2] / reach }, through: same},
			{name: "l_first", inner: step(0), through: lost},
			{name: "l_last", inner: step(1 - 1/reach), through: lost},
		},
	}
}

// slowing is ln(1 + c·x)/c, which is x where c is nothing.
func slowing(c, x float64) float64 {
	if math.Abs(c*x) < 1e-9 {
		return x
	}
	return math.Log1p(c*x) / c
}

// scalability is the universal scalability law.
func scalability(levels []Level) form {
	most := 2.0
	for _, l := range levels {
		most = max(most, l.X)
	}
	wait, talk := most-1, most*(most-1)
	return form{
		log: func(t []float64, l Level) float64 {
			return t[0] + math.Log(l.X) - math.Log1p(t[1]*(l.X-1)/wait+t[2]*l.X*(l.X-1)/talk)
		},
		parameters: 3, sized: true, starts: [][]float64{{0.1, 0}, {2, 1}, {10, 10}},
		params: []param{
			sizeParam("lambda"),
			{name: "sigma", inner: func(t []float64) float64 { return t[1] / wait }, through: same},
			{name: "kappa", inner: func(t []float64) float64 { return t[2] / talk }, through: same},
		},
	}
}

// costNames are what one more is called.
var costNames = map[string]string{
	CostPerHop: "per_hop", DelayPerHop: "per_hop", PerRule: "per_rule", PerContainer: "per_container", ContainerStep: "per_container",
}

// adding is a cost that grows by the same amount with every step, and jumps by another
// beyond one value, if it does.
func adding(s Series, x func(Level) float64, reach float64, jump *float64) form {
	sign := 1.0 // of a time, which is the cost
	if s.Rate {
		sign = -1
	}
	cost := func(j int, unit float64) func([]float64) float64 {
		return func(t []float64) float64 { return t[j] / unit * math.Exp(sign*t[0]) }
	}
	f := form{
		log:        func(t []float64, l Level) float64 { return t[0] + sign*math.Log1p(t[1]*x(l)/reach) },
		parameters: 2, sized: true, starts: [][]float64{{0.1}, {2}},
		params: []param{sizeParam(atZero(s)), {name: costNames[s.Kind], dimension: Cost, inner: cost(1, reach), through: same}},
	}
	if jump == nil {
		return f
	}
	f.log = func(t []float64, l Level) float64 {
		more := t[1] * x(l) / reach
		if l.X > *jump {
			more += t[2]
		}
		return t[0] + sign*math.Log1p(more)
	}
	f.parameters, f.places, f.starts = 3, 1, [][]float64{{0.1, 0.1}, {1, 1}}
	f.params = append(f.params, param{name: "step", dimension: Cost, inner: cost(2, 1), through: same},
		param{name: "step_above", known: &Param{Name: "step_above", Dimension: Count, Estimate: estimate(*jump)}})
	return f
}

// stepping has one form for each place where the jump may be. One level alone beyond it
// would be met whatever the model; so would one alone before it.
func stepping(s Series, x func(Level) float64, reach float64, levels []Level) (forms []form) {
	inside := distinct(levels)
	for i := 1; i+2 < len(inside); i++ {
		forms = append(forms, adding(s, x, reach, &inside[i]))
	}
	return forms
}

package experiment

import (
	"strings"

	"nfchain.dev/nfchain/internal/model"
)

// modelKind is what a kind of model is for people.
type modelKind struct {
	// rate and time are its formula for a rate and for a time; empty where it has none.
	rate, time string
}

// modelKinds by their names in the file. n counts namespaces, both ends included, and N
// flows; x is the factor's value, in the place of n−2 where it is no length.
var modelKinds = map[string]modelKind{
	model.LossPerHop:    {rate: "t(n) = t(2)·(1−l)^(n−2)"},
	model.TwoFactor:     {rate: "t(n) = t_in·((1−l_ovs)·(1−l_ns))^(n−2)"},
	model.Fading:        {rate: "t(n) = t(2)·(1+c·(n−2))^(−r/c)"},
	model.CostPerHop:    {rate: "1/t(n) = 1/t(2) + per_hop·(n−2)"},
	model.SharedCores:   {rate: "1/t(n,F) = max((send+per_hop·(n−2))/F, receive/F, (send+receive+per_hop·(n−2))/C)"},
	model.USL:           {rate: "t(N) = λ·N/(1+σ·(N−1)+κ·N·(N−1))"},
	model.PerRule:       {rate: "1/t(x) = 1/t(0) + per_rule·x", time: "d(x) = d(0) + per_rule·x"},
	model.PerContainer:  {rate: "1/t(x) = 1/t(0) + per_container·x", time: "d(x) = d(0) + per_container·x"},
	model.ContainerStep: {rate: "1/t(x) = 1/t(0) + per_container·x + step·(x > step_above)", time: "d(x) = d(0) + per_container·x + step·(x > step_above)"},
	model.DelayPerHop:   {time: "d(n) = d(2) + per_hop·(n−2)"},
}

// formula of a kind over a factor.
func (k modelKind) formula(metric, over string) string {
	text := k.rate
	if !isRate(metric) && k.time != "" {
		text = k.time
	}
	if over == "length" {
		return text
	}
	return strings.NewReplacer("(n−2)", "x", "(2)", "(0)", "(n,F)", "(x,F)", "(n)", "(x)").Replace(text)
}

// work is what one of a rate's units is, and how many of it a cost is printed for.
type work struct {
	unit string
	// scale takes a cost from seconds a unit of the rate to the unit's.
	scale float64
}

// works by the end of a rate's name.
var works = map[string]work{
	"bps": {"ns/kbit", 1e12}, "pps": {"ns/packet", 1e9}, "second": {"ns/transaction", 1e9},
}

func lastWord(metric string) string { return metric[strings.LastIndexByte(metric, '_')+1:] }

// isRate tells metrics of how much there is a second.
func isRate(metric string) bool { return works[lastWord(metric)].unit != "" }

// isTime tells metrics of how long something takes.
func isTime(metric string) bool { return lastWord(metric) == "ns" || lastWord(metric) == "s" }

// inUnits of a metric is a parameter as the model has it.
func inUnits(p model.Param, metric string) Param {
	out := Param{Name: p.Name, Value: p.Value, CI95: p.CI95}
	switch {
	case p.Dimension == model.Value && lastWord(metric) != "second":
		out.Unit = lastWord(metric)
	case p.Dimension == model.Value:
		out.Unit = "/s"
	case p.Dimension == model.Cost && isRate(metric):
		w := works[lastWord(metric)]
		out.Unit, out.Value = w.unit, out.Value*w.scale
		if ci := p.CI95; ci != nil {
			out.CI95 = &[2]float64{ci[0] * w.scale, ci[1] * w.scale}
		}
	case p.Dimension == model.Cost:
		out.Unit = lastWord(metric)
	}
	return out
}

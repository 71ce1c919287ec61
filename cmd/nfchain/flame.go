package main

import (
	"fmt"

	"nfchain.dev/nfchain/internal/profile"
	"nfchain.dev/nfchain/internal/report/plot"
)

// flame is the graph of a profile: node, process, functions from the outermost on.
func flame(r profile.Report) plot.Flame {
	f := plot.Flame{ID: "flame", Unit: "samples", Title: fmt.Sprintf("chain %s, wiring %s: %s by %s, %d busy samples at %d Hz", r.Chain, r.Wiring, r.Condition.Protocol, r.Condition.Tool, r.Busy, r.FrequencyHz),
		Description: "Flame graph of what busy cores executed. From below: the node of the chain, the process, its functions.",
		Root:        plot.Frame{Name: "all", Shade: plot.Dark},
		Shades:      map[plot.Shade]string{plot.Dark: "node of the chain", plot.Blank: "process", plot.Light: "function of a program", plot.Middle: "function of the kernel"}}
	for _, s := range r.Stacks {
		if s.Hop == profile.Idle {
			continue
		}
		f.Root.Value += s.Samples
		at := f.Root.Child(s.Hop, plot.Dark)
		at.Value += s.Samples
		at = at.Child(s.Process, plot.Blank)
		at.Value += s.Samples
		for _, frame := range s.Frames {
			at = at.Child(frame.Function, shadeOf(frame))
			at.Value += s.Samples
		}
	}
	return f
}

func shadeOf(f profile.FrameInStack) plot.Shade {
	if f.Kernel {
		return plot.Middle
	}
	return plot.Light
}

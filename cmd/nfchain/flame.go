package main

import (
	"fmt"

	"nfchain.dev/nfchain/internal/profile"
	"nfchain.dev/nfchain/internal/report/plot"
)

// flame is the graph of a profile: node, process, functions from the outermost on.
func flame(r profile.Report) plot.Flame {
	f := plot.Flame{ID: "flame", Unit: "samples", Title: fmt.Sprintf("chain %s, wiring %s: %s, %d busy samples at %d Hz", r.Chain, r.Wiring, r.Load(), r.Busy, r.FrequencyHz),
		Description: "Flame graph of what busy cores executed. From below: the node of the chain, the process or softirq, its functions. Processes outside the chain are without theirs.",
		Root:        plot.Frame{Name: "all", Shade: plot.Dark},
		Shades:      map[plot.Shade]string{plot.Dark: "node of the chain", plot.Blank: "process or softirq", plot.Light: "function of a program", plot.Middle: "function of the kernel"}}
	for _, h := range r.Hops { // in path order
		f.Root.Child(h.Name, plot.Dark)
	}
	for _, s := range r.Stacks {
		if s.Hop != profile.Idle {
			addStack(&f.Root, s)
		}
	}
	return f
}

// addStack puts a stack into a graph. A softirq has nothing to do with the program
// that it came upon, and what others on the machine do is not looked into.
func addStack(root *plot.Frame, s profile.StackCount) {
	process, frames := s.Process, []profile.Frame(s.Frames)
	if at := profile.SoftirqIn(frames); at >= 0 {
		process, frames = "softirq", frames[at:]
	}
	if s.Hop == profile.Outside {
		frames = nil
	}
	node := root.Child(s.Hop, plot.Dark)
	at := node.Child(process, plot.Blank)
	for _, f := range []*plot.Frame{root, node, at} {
		f.Value += s.Samples
	}
	for _, frame := range frames {
		at = at.Child(frame.Function, shadeOf(frame))
		at.Value += s.Samples
	}
}

func shadeOf(f profile.Frame) plot.Shade {
	if f.Kernel {
		return plot.Middle
	}
	return plot.Light
}

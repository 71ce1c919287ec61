package run

import (
	"math"
	"strings"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/impair"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/redirect"
	"nfchain.dev/nfchain/internal/trial"
)

// impaired is what impair functions had counted at one moment, by node.
type impaired map[string][]impairCounts

// impairCounts is one direction of a function.
type impairCounts struct {
	way    impair.Way
	counts *impair.Counts
	// unread packets were redirected to the program, and lost before it had them.
	unread uint64
}

// impairedNow reads the counters of every impair function of a chain.
func impairedNow(p *plan.Plan) (impaired, error) {
	all := impaired{}
	return all, eachImpair(p, func(n plan.Node, at resource.Place) (err error) {
		all[n.Name], err = readImpair(n, at)
		return err
	})
}

// since is what the chain's impair functions did after a reading.
func (before impaired) since(p *plan.Plan) (all []trial.Impairment, err error) {
	err = eachImpair(p, func(n plan.Node, at resource.Place) error {
		list, err := impairedSince(n, at, before[n.Name])
		all = append(all, list...)
		return err
	})
	return all, err
}

// eachImpair visits the chain's impair functions, until one fails.
func eachImpair(p *plan.Plan, visit func(plan.Node, resource.Place) error) error {
	for _, n := range p.Functions() {
		if n.Kind != "impair" {
			continue
		}
		h, err := netns.Open(n.Namespace)
		if err != nil {
			return err
		}
		err = visit(n, resource.At(h, p.Chain))
		h.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// impairedSince is what one function did after a reading, or ever; none if it is no
// impair function, or one of the kernel's, which keeps no record.
func impairedSince(n plan.Node, at resource.Place, before []impairCounts) ([]trial.Impairment, error) {
	now, err := readImpair(n, at)
	if err != nil {
		return nil, err
	}
	var out []trial.Impairment
	for _, c := range now {
		for _, b := range before {
			if b.way == c.way {
				c.counts, c.unread = c.counts.Since(b.counts), c.unread-min(b.unread, c.unread)
			}
		}
		i, err := c.impairment(n.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	return out, nil
}

func readImpair(n plan.Node, at resource.Place) ([]impairCounts, error) {
	if n.Kind != "impair" {
		return nil, nil
	}
	ways, err := impair.Read(recordOf(n))
	if err != nil || ways == nil {
		return nil, err
	}
	var out []impairCounts
	for _, c := range []struct {
		impairCounts
		in *plan.Interface
	}{{impairCounts{way: impair.Forward, counts: &ways[0]}, n.West}, {impairCounts{way: impair.Reverse, counts: &ways[1]}, n.East}} {
		if _, err := at.Device(c.way.Device); err != nil {
			continue // the function does not act on this direction
		}
		redirected, err := redirect.Count(at, redirect.Spec{Device: c.in.Device, To: c.way.Device})
		if err != nil {
			return nil, err
		}
		c.unread = redirected.Lost
		out = append(out, c.impairCounts)
	}
	return out, nil
}

// recordOf a node follows from its namespace: a standalone function's is its own, not
// that of a chain through it.
func recordOf(n plan.Node) string {
	if owner, node, ours := namespace.Split(n.Namespace); ours {
		return deploy.RecordFile(owner, node)
	}
	alone := strings.TrimPrefix(n.Namespace, namespace.Prefix)
	return deploy.RecordFile(alone, alone)
}

func (c impairCounts) impairment(node string) (trial.Impairment, error) {
	text, err := trial.EncodeHistogram(trial.BucketHistogram(c.counts.Late[:], 0, math.MaxInt64))
	n := c.counts
	return trial.Impairment{
		Node: node, Direction: c.way.Name, Seen: n.Seen, Unread: c.unread, Dropped: n.Dropped, Duplicated: n.Duplicated,
		Reordered: n.Reordered, GivenUp: n.GivenUp, Delayed: n.Delayed, Overflowed: n.Overflowed, Left: n.Left,
		Refused: n.Refused, Unstamped: n.Unstamped, Late: text,
	}, err
}

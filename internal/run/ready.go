package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/process"
)

// firstLook is how soon it is asked again whether programs are ready, and longestLook how seldom.
const firstLook, longestLook = 2 * time.Millisecond, 20 * time.Millisecond

// looksApart is the part of the time that it has taken so far that passes until the next look, which adds so much at most.
const looksApart = 8

// waitReady waits until every program of a plan is ready, and gives them as they are then, or one cannot become so.
func (h *Host) waitReady(ctx context.Context, p *plan.Plan) ([]process.Status, error) {
	programs, what := map[string]bool{}, map[string]string{}
	for _, n := range p.Nodes {
		if n.Kind == "endpoint" {
			what[n.Name] = n.Kind
		}
	}
	for _, r := range p.Resources {
		if r.Kind == process.KindName {
			programs[r.Spec.Key()] = true
		}
	}
	for began := time.Now(); len(programs) > 0; {
		statuses, err := process.Statuses(p.Chain)
		if err != nil {
			return nil, err
		}
		statuses = slices.DeleteFunc(statuses, func(s process.Status) bool { return !programs[s.Node] }) // others are there for flows from before
		if len(statuses) < len(programs) {
			return nil, fmt.Errorf("the supervisor of %s has ended; `nfchain up` starts it again", p.Chain)
		}
		if readyAll(statuses) {
			heldStill(p, statuses)
		}
		for _, s := range statuses {
			if why := failing(p.Chain, s); why != "" {
				return nil, fmt.Errorf("%s %s is not ready: its program %s", cmp.Or(what[s.Node], "function"), s.Node, why)
			}
		}
		if readyAll(statuses) {
			return statuses, nil
		}
		select {
		case <-ctx.Done():
			return nil, deploy.Interrupted(ctx.Err())
		case <-time.After(min(max(time.Since(began)/looksApart, firstLook), longestLook)):
		}
	}
	return nil, nil
}

func readyAll(programs []process.Status) bool {
	return !slices.ContainsFunc(programs, func(s process.Status) bool { return s.State != process.Running })
}

// failing tells why a program will not become ready; "" while it may.
func failing(owner string, s process.Status) string {
	if !s.Broken() {
		return ""
	}
	return s.Message + deploy.LastWords(owner, s.Node)
}

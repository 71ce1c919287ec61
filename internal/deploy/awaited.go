package deploy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// readyLook is how often it is asked whether programs are ready.
const readyLook = 10 * time.Millisecond

// awaitReady waits for the programs of functions that no packet goes to yet, and that get none through until these are ready, or come in the place
// of others that do. Where one does not become ready, packets go on as they went.
func (w *work) awaitReady(ctx context.Context, p *plan.Plan) error {
	coming, err := w.unled(p)
	if err != nil || len(coming) == 0 {
		return err
	}
	for {
		programs, err := process.Statuses(w.owner)
		if err != nil {
			return err
		}
		waits := false
		for _, s := range programs {
			n, comes := coming[s.Node]
			if !comes || s.State == process.Running {
				continue
			}
			if s.Broken() {
				return unreadyNode(p, n, s)
			}
			waits = true
		}
		if !waits {
			return nil
		}
		if _, err := pause(ctx, readyLook); err != nil {
			return err
		}
	}
}

// unreadyNode is why packets are not led to a function.
func unreadyNode(p *plan.Plan, n plan.Node, s process.Status) error {
	return fmt.Errorf("function %s is not ready, so that packets go on as they went before it came: its program %s; `nfchain logs %s %s` has what it wrote", n.InFile(), s.Message, p.Chain, n.Name)
}

// unled are such functions, by the names of their nodes. That packets go to one, the ports tell that are there.
func (w *work) unled(p *plan.Plan) (map[string]plan.Node, error) {
	all := map[string]plan.Node{}
	if w.dry || w.restoring {
		return all, nil
	}
	for _, n := range p.Functions() {
		if n.PassesOn() || n.NSH != nil || p.Comes(n) {
			all[n.Name] = n
		}
	}
	if len(all) == 0 {
		return all, nil
	}
	own := namespace.Name(p.Chain, plan.WiringNode)
	at := &opened{place: own, work: w}
	defer at.close()
	ports, err := w.read(steer.Kind{}, own, at)
	if err != nil {
		return nil, fmt.Errorf("look where packets go: %w", err)
	}
	of := map[string]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is && s.B.Namespace == own {
			of[s.B.Device] = s.A.Node
		}
	}
	for led := true; led; { // who is led to leads on
		led = false
		for port, node := range of {
			from := func(o resource.Observed) bool {
				_, comes := all[of[o.Key]]
				return of[o.Key] != node && !comes && strings.Contains(o.Fingerprint, port)
			}
			if _, comes := all[node]; comes && slices.ContainsFunc(ports, from) {
				delete(all, node)
				led = true
			}
		}
	}
	return all, nil
}

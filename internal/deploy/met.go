package deploy

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// compare what packets meet before anything is changed, and after: whether flows that stay on their path would meet functions without a
// namespace there as others do. Where no port is turned, nor was while flows stay, nobody asks. Where they would not, that is noted until
// all ports are turned: functions without a namespace are put in before, so that who ends in between leaves nothing by which to tell.
func (w *work) compare(ctx context.Context, p *plan.Plan) error {
	own := namespace.Name(p.Chain, plan.WiringNode)
	w.alike = true
	if w.isFresh(own) || !netns.Exists(own) {
		return nil
	}
	if w.unlike = unlikeNoted(w.owner); w.unlike {
		return nil
	}
	asked, err := w.meet(p, own)
	switch {
	case err != nil || !asked || w.alike:
		return err
	case w.bygone != nil:
		return w.leadAside(ctx, p)
	case w.dry:
		return nil
	}
	return noteUnlike(w.owner)
}

// meet is that of a chain whose last edit came to its end. It tells whether somebody asks.
func (w *work) meet(p *plan.Plan, own string) (asked bool, err error) {
	at := &opened{place: own, work: w}
	defer at.close()
	m := plan.Met{Was: map[string]plan.Pass{}, Is: map[string]plan.Pass{}, Aside: map[string]plan.Pass{}, There: map[string]bool{}, Wanted: w.ports, Turned: map[string]bool{}, Nodes: map[uint64]bool{}}
	passes, err := w.read(pass.Kind{}, own, at)
	if err != nil {
		return false, err
	}
	for _, o := range passes {
		m.Was[o.Key] = seen(o.Fingerprint)
	}
	ports, err := w.read(steer.Kind{}, own, at)
	if err != nil {
		return false, err
	}
	leads := map[string]string{}
	for _, o := range ports {
		m.There[o.Key], leads[o.Key] = true, o.Fingerprint
	}
	turns, changes, ends := len(leads) != len(w.ports), false, false
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case steer.Spec:
			m.Turned[s.Device] = leads[s.Device] != s.Fingerprint()
			turns = turns || m.Turned[s.Device]
		case pass.Spec:
			if r.Namespace == own {
				m.Is[s.Device] = met(s)
				changes = changes || m.Was[s.Device].Steps != s.Fingerprint()
			}
		}
	}
	for port, was := range m.Was {
		is, there := m.Is[port]
		changes, ends = changes || w.ports[port] && !there, ends || was.Translates && !is.Translates
	}
	if !changes {
		return false, nil
	}
	if w.alike = false; !turns && !w.stayed && !ends {
		return false, nil
	}
	if err := w.whose(at, &m); err != nil {
		return false, fmt.Errorf("look at the inline functions of the forwarder: %w", err)
	}
	if err := w.name(p, &m); err != nil {
		return false, err
	}
	if w.alike = m.Alike(); w.alike {
		return true, nil
	}
	return true, w.lookBack(at, p, m)
}

// met is what packets meet in a pass.
func met(s pass.Spec) plan.Pass {
	one := seen(s.Fingerprint())
	one.Beside = s.Beside
	var of []uint64
	for _, f := range s.Of {
		of = append(of, pass.WhoseStep(f))
	}
	return whose(one, of)
}

// whose is a pass with the functions whose steps it has.
func whose(one plan.Pass, of []uint64) plan.Pass {
	one.Of = of
	for i, step := range strings.Split(one.Steps, ", ") {
		if i < len(of) && pass.Translates(step) {
			one.Translators = append(one.Translators, of[i])
		}
	}
	return one
}

// seen is a pass of which that is known alone.
func seen(fingerprint string) plan.Pass {
	return plan.Pass{Steps: fingerprint, EitherWay: pass.EitherWay(fingerprint), Translates: pass.Translates(fingerprint), Together: pass.Limits(fingerprint)}
}

// numbered is how the namespace of a replica, or of an instance, is called behind the function's name.
var numbered = regexp.MustCompile(`(\.[0-9]+)?(-[0-9]+)?$`)

// whose notes whose steps are where, which ports lead older flows elsewhere, and what has a namespace. No flow that stays is led past a node by the
// pairs beside these, and what those that were left meet at another end is as it is.
func (w *work) whose(at *opened, m *plan.Met) error {
	place, err := at.at()
	if err != nil {
		return err
	}
	all, err := pass.Whose(place)
	if err != nil {
		return err
	}
	for port, of := range all {
		m.Was[port] = whose(m.Was[port], of)
	}
	if w.stayed {
		older, err := steer.Unsteady(place)
		if err != nil {
			return err
		}
		for port := range older {
			m.Turned[port] = true
		}
	}
	for _, all := range []map[string]plan.Pass{m.Was, m.Is} {
		for port, one := range all {
			if strings.HasPrefix(port, steer.Bygone) {
				m.Aside[port] = one
			}
			if strings.HasPrefix(port, steer.Beside) || strings.HasPrefix(port, steer.Bygone) {
				delete(all, port)
			}
		}
	}
	return nil
}

// name the functions that have namespaces, or are to have some. That of a stop is its own, and none of theirs.
func (w *work) name(p *plan.Plan, m *plan.Met) error {
	for _, n := range p.Nodes {
		if n.Kind != plan.StopKind {
			m.Nodes[pass.WhoseStep(n.InFile())] = true
		}
	}
	names, err := namespacesOf(w.owner)
	for _, name := range names {
		if _, node, is := namespace.Split(name); is {
			m.Nodes[pass.WhoseStep(node)], m.Nodes[pass.WhoseStep(numbered.ReplaceAllString(node, ""))] = true, true
		}
	}
	return err
}

package deploy

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/vishvananda/netlink"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/process"
)

// Harmable is an error if a chain has nothing of that kind to lose.
func Harmable(p *plan.Plan, h api.Harm) error {
	_, err := harm(p, h)
	return err
}

// HarmsEnd tells whether harm takes an interface away from one of a chain's ends, or has the kernel take it away: that of a function goes with its
// other end.
func HarmsEnd(p *plan.Plan, h api.Harm) bool {
	if h.What != api.HarmInterface {
		return false
	}
	i := slices.IndexFunc(p.Nodes, func(n plan.Node) bool { return n.Name == h.Node || n.Usual() == h.Node })
	if i < 0 || harmedPort(p.Nodes[i]) == nil {
		return false
	}
	ends := []string{p.Client().Namespace, p.Server().Namespace}
	node, device := p.Nodes[i].Namespace, harmedPort(p.Nodes[i]).Device
	return slices.Contains(ends, node) || slices.ContainsFunc(p.Resources, func(r resource.Resource) bool {
		s, is := r.Spec.(link.Spec)
		a, b := s.A, s.B
		if b.Namespace == node && b.Device == device {
			a, b = b, a
		}
		return is && a.Namespace == node && a.Device == device && slices.Contains(ends, b.Namespace)
	})
}

// Harm takes something from a chain that is up, as a failure would: nothing is told of it.
func Harm(p *plan.Plan, h api.Harm) error {
	do, err := harm(p, h)
	if err != nil {
		return err
	}
	return do()
}

// harm to a chain, and what does it.
func harm(p *plan.Plan, h api.Harm) (do func() error, err error) {
	programs := map[string]bool{}
	for _, r := range p.Resources {
		if r.Kind == process.KindName {
			programs[r.Spec.Key()] = true
		}
	}
	switch {
	case h.What == api.HarmSupervisor && len(programs) == 0:
		return nil, errors.New("the chain has no programs, and so no supervisor")
	case h.What == api.HarmSupervisor:
		return func() error { return process.Kill(p.Chain) }, nil
	}
	var names []string
	for _, n := range p.Nodes {
		names = append(names, n.Name)
		if n.Name != h.Node && n.Usual() != h.Node {
			continue
		}
		switch port := harmedPort(n); {
		case h.What == api.HarmProgram && programs[n.Name]:
			return func() error { return signalProgram(p.Chain, n.Name, syscall.SIGKILL) }, nil
		case h.What == api.HarmStopped && programs[n.Name] && !n.WatchedOver():
			return nil, fmt.Errorf("%s has no onFailure, so that nobody would see that its program is stopped and start it again; give it one, or kill the program", n.Name)
		case h.What == api.HarmStopped && programs[n.Name]:
			return func() error { return signalProgram(p.Chain, n.Name, syscall.SIGSTOP) }, nil
		case h.What == api.HarmProgram || h.What == api.HarmStopped:
			return nil, fmt.Errorf("%s runs no program that could be killed or stopped; harm its interface", n.Name)
		case p.Foreign():
			return nil, fmt.Errorf("the interface of %s is the network's, and what comes back in its place may have other addresses, if anything does; harm a program, or use wiring: veth", n.Name)
		case port == nil || !n.Made || p.Within():
			return nil, fmt.Errorf("%s has no interface that is the chain's alone", n.Name)
		default:
			return func() error { return removePort(n.Namespace, port.Device) }, nil
		}
	}
	return nil, fmt.Errorf("there is no %s in the chain; there are %v", h.Node, names)
}

// harmedPort of a node: the one to the west, or the first endpoint's.
func harmedPort(n plan.Node) *plan.Interface {
	if n.West != nil {
		return n.West
	}
	return n.East
}

// signalProgram of a node, as it runs now.
func signalProgram(owner, node string, signal syscall.Signal) error {
	all, err := process.Statuses(owner)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Node == node && s.PID > 0 {
			return syscall.Kill(s.PID, signal)
		}
	}
	return fmt.Errorf("the program of %s does not run, so that nothing can be done to it", node)
}

func removePort(namespace, device string) error {
	h, err := netns.Open(namespace)
	if err != nil {
		return err
	}
	defer h.Close()
	l, err := h.LinkByName(device)
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		return nil // it went with its other end
	}
	if err != nil {
		return err
	}
	return h.LinkDel(l)
}

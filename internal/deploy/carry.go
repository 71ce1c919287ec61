package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
)

// startContained starts a container, and only then has its namespace take the place of the one that had its name: until then packets go on
// through that. Where an image is given, it is started anew if it is of another. It tells whether the chain's interfaces were carried over.
func (w *work) startContained(ctx context.Context, p *plan.Plan, s container.Spec, image string, ahead *ahead) (carried bool, err error) {
	asked := time.Now()
	all, err := w.own(ctx, p)
	if err != nil {
		return false, err
	}
	start := s.StartNew
	if ahead.joins {
		start = s.StartWithin
	} else if slices.ContainsFunc(all, func(c engine.Container) bool { return c.Name == s.Name }) {
		start = s.Start
	}
	its, err := start(ctx, w.owner, image)
	if err != nil {
		return false, err
	}
	defer its.Close() // by the number of the process it could be another's when it is its turn
	if w.contained != nil {
		w.contained(s.Node, asked, time.Now())
	}
	<-ahead.made
	if s.Hosted() {
		return false, s.Place(its)
	}
	if its.Called(s.Name) {
		return false, nil
	}
	if ahead.joins {
		return false, fmt.Errorf("function %s: its container has another network namespace than it was to join; see that its engine has the same %s as this command", s.Node, netns.Dir)
	}
	if err := empty(s.Name, w.owner); err != nil {
		return false, err
	}
	// What cannot be carried is made anew, which tells why it cannot be.
	carried, _ = w.carry(p, s.Name, its.Ref())
	if err := strip(s.Name, w.owner); err != nil {
		return false, err
	}
	if err := s.Place(its); err != nil || !ahead.furnishing || ahead.err != nil {
		return carried, err
	}
	return carried, w.furnish(ctx, p, s.Name)
}

// carry the chain's interfaces from the namespace that has a container's name to the container's own, and tell whether these are all that it is
// to have. What they are joined to, such as the ports of a forwarder, then stays as it is.
func (w *work) carry(p *plan.Plan, name, own string) (all bool, err error) {
	pairs, settings := joined(p, name)
	if len(pairs) == 0 {
		return false, nil
	}
	from, err := netns.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer from.Close()
	to, err := netns.Open(own)
	if err != nil {
		return false, err
	}
	defer to.Close()
	// Interfaces begin with the settings of the namespace that they come to.
	settings.Name = own
	set := resource.Change{Op: resource.Update, Kind: namespace.KindName, Key: own, Spec: settings}
	if err := (namespace.Kind{}).Apply(resource.Place{Owner: w.owner}, []resource.Change{set}); err != nil {
		return false, err
	}
	return link.Carry(resource.At(from, w.owner), resource.At(to, w.owner), pairs)
}

// joined are the pairs that have an end in a namespace, where nothing else is to bring interfaces there, and its settings.
func joined(p *plan.Plan, name string) (pairs []link.Spec, settings namespace.Spec) {
	id := resource.ID(namespace.KindName, netns.Host, name)
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case namespace.Spec:
			if s.Name == name {
				settings = s
			}
		case link.Spec:
			if s.A.Namespace == name || s.B.Namespace == name {
				pairs = append(pairs, s)
			}
		case process.Spec, container.Names:
		default:
			makes := r.Namespace == name && Stage(r.Kind) < addressing
			if makes || slices.Contains(r.Needs, id) {
				return nil, settings
			}
		}
	}
	return pairs, settings
}

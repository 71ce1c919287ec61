package deploy

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/label"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/nsh"
	"nfchain.dev/nfchain/internal/resource/opens"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/route"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/resource/tuning"
)

// phase of bringing up a chain that a forwarder steers.
type phase int

const (
	// plain: whatever differs is changed.
	plain phase = iota
	// beside what is there the new is made; no packet goes to it yet.
	making
	// turning has packets go to it; what they went to before is still there.
	turning
)

// steered tells of a plan in which a forwarder sends packets from node to node.
func steered(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Resources, func(r resource.Resource) bool { return r.Kind == steer.KindName })
}

// replace what is there by what the plan says, while packets pass: first the new is made,
// then ports are turned to it, each in one step, and when nothing comes any more out of what
// is no longer wanted, that goes. So a function that is put in, taken out or replaced costs no
// packet. Being killed in between costs another run, as ever.
func (w *work) replace(ctx context.Context, p *plan.Plan) (err error) {
	defer func() {
		if err != nil {
			w.goOn()
		}
	}()
	asked := p
	p, err = w.leave(asked)
	if err != nil {
		return err
	}
	w.phase = making
	w.want(p)
	if err := w.hold(p); err != nil {
		return err
	}
	if err := w.compare(ctx, p); err != nil {
		return err
	}
	if w.apart && w.alike && !w.unlike && w.bygone == nil {
		w.goOn() // nothing that packets go by is touched until ports are turned
	}
	for _, stage := range stages {
		fresh := !w.dry && w.isFresh(namespace.Name(p.Chain, plan.WiringNode)) // since its stage
		if w.dry && stage[0].Name() == steer.KindName || stage[0].Name() == health.KindName || stage[0].Name() == opens.KindName && !fresh {
			continue // later; what is told twice is told wrong
		}
		if stage[0].Name() == steer.KindName {
			stage = []resource.Kind{steer.Kind{Order: orderOf(p)}}
		}
		if err := w.stage(ctx, w.listening(ctx, stage, p), w.bygone.joined(p)); err != nil {
			return err
		}
	}
	if err := w.allMade(); err != nil {
		return err
	}
	if !w.dry && !w.isFresh(namespace.Name(p.Chain, plan.WiringNode)) {
		if err := errors.Join(w.awaitCarrier(ctx, p), w.awaitReady(ctx, p)); err != nil {
			return err
		}
	}
	w.phase = turning
	if err := w.turn(ctx, p, asked); err != nil {
		return err
	}
	if err := w.turned(); err != nil {
		return err
	}
	w.phase, p = plain, asked
	if w.remains() && (!w.dry || len(w.done) == 0) {
		return w.dropBygone(ctx, p) // flows still need what else is no longer wanted
	}
	if w.ledElsewhere {
		if err := w.stage(ctx, []resource.Kind{route.Kind{}}, p); err != nil {
			return err
		}
	}
	if err := w.dropBygone(ctx, p); err != nil {
		return err
	}
	if err := w.stage(ctx, []resource.Kind{container.NamesKind{}}, p); err != nil { // of what is no longer there
		return err
	}
	return w.removeDropped(ctx, p)
}

// listening has a translator that is put where packets pass hear answers first: of those connections it knows then that they are
// from before.
func (w *work) listening(ctx context.Context, stage []resource.Kind, p *plan.Plan) []resource.Kind {
	i := slices.IndexFunc(stage, func(k resource.Kind) bool { return k.Name() == pass.KindName })
	if i < 0 || w.isFresh(namespace.Name(p.Chain, plan.WiringNode)) {
		return stage
	}
	stage = slices.Clone(stage)
	stage[i] = pass.Kind{Listens: true, Aside: func(device string) bool { return strings.HasPrefix(device, steer.Bygone) }, Pause: func(while time.Duration) (time.Duration, error) { return pause(ctx, while) }}
	return stage
}

// hold has who watches over the functions take nothing for a failure while they are changed. Where all that are there stay as they are, and others come
// or go beside them, that is so only while ports are turned.
func (w *work) hold(p *plan.Plan) error {
	watched, functions, err := process.OnWatch(w.owner)
	w.watched = watched != ""
	if err != nil || watched == "" || w.dry {
		return err
	}
	for _, r := range p.Resources {
		if r.Kind == health.KindName && r.Spec.Fingerprint() == watched {
			return nil // none is changed
		}
	}
	w.held, w.apart = true, stand(p, functions)
	return process.Hold(w.owner)
}

// stand tells whether functions that are watched, as who watches knows them, stay as they are in a plan that has them.
func stand(p *plan.Plan, functions []process.Health) bool {
	watches := len(functions) == 0
	for _, r := range p.Resources {
		s, is := r.Spec.(health.Spec)
		if !is {
			continue
		}
		watches = true
		for _, n := range s.Path.Nodes {
			if slices.ContainsFunc(functions, func(h process.Health) bool { return h.Node == n.Node && h.Version != n.Version }) {
				return false
			}
		}
	}
	return watches
}

// goOn ends that where the new could not be made: ports lead where they led, by the order that who watches knows. Where they were being turned it
// holds back for as long as it was told to. What is there is no worse for not being told, so that this fails for nobody.
func (w *work) goOn() {
	if w.held && w.phase == making {
		_ = process.GoOn(w.owner)
	}
}

// holdOn once more: to make what is new may have taken longer than who watches is held for. None does any more where that has ended.
func (w *work) holdOn() error {
	if !w.held {
		return nil
	}
	if err := process.Hold(w.owner); !errors.Is(err, rundir.ErrNone) {
		return err
	}
	return nil
}

// turn ports to what is new, have that watched, and, where no flow needs what is no longer asked for, wait until nothing comes any
// more from that. A forwarder that was just made has no such ports.
func (w *work) turn(ctx context.Context, p, asked *plan.Plan) error {
	fresh := !w.dry && w.isFresh(namespace.Name(p.Chain, plan.WiringNode))
	if !fresh {
		if err := w.holdOn(); err != nil {
			return err
		}
		t, err := w.turnOf(ctx, p)
		if err != nil {
			return err
		}
		if err := w.moveOlder(p, t); err != nil {
			return err
		}
		if err := w.introduce(ctx, p, t); err != nil {
			return err
		}
		if err := w.stage(ctx, []resource.Kind{steer.Kind{Leave: true, Turn: t, Order: orderOf(p)}}, inTurn(p)); err != nil {
			return err
		}
		if err := w.stage(ctx, []resource.Kind{opens.Kind{}}, p); err != nil {
			return err
		}
		if err := w.begin(p, t); err != nil {
			return err
		}
		w.moved = t.Moved + w.taken
		w.tellAtOnce(p, t)
		if err := w.relabel(); err != nil {
			return err
		}
		if err := w.forget(ctx, p); err != nil {
			return err
		}
		if err := w.watchWhileSettling(ctx, p); err != nil {
			return err
		}
		if err := w.lessen(); err != nil {
			return err
		}
		if err := w.settle(ctx, asked); err != nil {
			return err
		}
		if err := w.stay(ctx, p); err != nil {
			return err
		}
		if err := w.untag(ctx, p); err != nil {
			return err
		}
	}
	if err := w.relabel(); err != nil {
		return err
	}
	if err := w.stage(ctx, []resource.Kind{health.Kind{}}, p); err != nil || fresh || w.dry || w.remains() {
		return err
	}
	if !w.unwanted {
		return nil
	}
	return w.drain(ctx, p)
}

// watchWhileSettling has the new path watched before it is found out which flows stay, which takes
// long. A plan that is only looked at tells of it where it belongs.
func (w *work) watchWhileSettling(ctx context.Context, p *plan.Plan) error {
	if w.dry {
		return nil
	}
	return w.stage(ctx, []resource.Kind{health.Kind{}}, p)
}

// inTurn is a plan with the ports in the order in which they are turned: those first that are
// nearest to where packets of their way end. What comes to a port that is turned then meets such
// ports alone from there on, so that nothing goes round, however functions change places: those
// without hop limits would pass it on for ever.
func inTurn(p *plan.Plan) *plan.Plan {
	place := placesOf(p)
	ordered := *p
	ordered.Resources = slices.Clone(p.Resources)
	slices.SortStableFunc(ordered.Resources, func(a, b resource.Resource) int {
		if a.Kind != steer.KindName || b.Kind != steer.KindName {
			return cmp.Compare(a.Kind, b.Kind)
		}
		return cmp.Compare(place[a.Spec.Key()], place[b.Spec.Key()])
	})
	return &ordered
}

// placesOf a forwarder's ports on the ways that lead by them, from the end: of what leaves nodes
// eastwards before the first endpoint's side, and then of what leaves them westwards.
func placesOf(p *plan.Plan) map[string]int {
	nodes, order := map[string]plan.Node{}, along(p)
	for _, n := range p.Nodes {
		nodes[n.Name] = n
	}
	place := map[string]int{}
	for _, r := range p.Resources {
		s, is := r.Spec.(link.Spec)
		if !is || s.B.Namespace != p.Between() {
			continue
		}
		n, known := nodes[s.A.Node]
		if !known {
			continue
		}
		i := slices.Index(order, n.Name)
		place[s.B.Device] = len(p.Nodes) + i
		if east := n.East; east != nil && east.Device == s.A.Device {
			place[s.B.Device] = len(p.Nodes) - i
		}
	}
	for name, n := range nodes {
		if n.Past != nil { // which is as the node's own ports
			i := slices.Index(order, name)
			place[n.Past.West], place[n.Past.East] = len(p.Nodes)+i, len(p.Nodes)-i
		}
	}
	for port, like := range p.Like() {
		place[port] = place[like]
	}
	return place
}

// orderOf the ports is what tells whether packets go on from one to another, or back to where they were.
func orderOf(p *plan.Plan) map[string]int {
	order := placesOf(p)
	for port := range order {
		order[port] -= len(p.Nodes)
	}
	return order
}

// along are the names of the nodes in the order in which packets come by. Where there are several paths, those of the
// first are in its order, and others behind those that are before them on theirs, as far as can be.
func along(p *plan.Plan) (order []string) {
	if p.Classifier != nil {
		paths := slices.Clone(p.Classifier.Paths)
		slices.SortStableFunc(paths, func(a, b plan.Path) int { return cmp.Compare(rank(a), rank(b)) })
		for _, path := range paths {
			at := 0
			for _, name := range path.Nodes {
				if i := slices.Index(order, name); i >= 0 {
					at = i + 1
					continue
				}
				order = slices.Insert(order, at, name)
				at++
			}
		}
	}
	for _, n := range p.Nodes {
		if !slices.Contains(order, n.Name) {
			order = append(order, n.Name)
		}
	}
	return order
}

// rank of a path among others: that of branches, whose functions are before those that they lead to, comes first.
func rank(p plan.Path) int {
	if p.Branched {
		return 0
	}
	return 1
}

// due are the changes that the phase lets be made.
func (w *work) due(changes []resource.Change) []resource.Change {
	if w.phase == plain {
		return changes
	}
	return slices.DeleteFunc(changes, w.waits)
}

// waits tells whether a change is not to be made yet. The port of a node that is no longer wanted
// goes with it, as do its programs, and until then lets out what is under way.
func (w *work) waits(c resource.Change) bool {
	switch c.Kind {
	case link.KindName:
		return c.Op == resource.Delete && strings.HasPrefix(c.Key, steer.Bygone)
	case steer.KindName:
		if c.Op == resource.Delete {
			w.mu.Lock()
			w.unwanted = w.unwanted || !strings.HasPrefix(c.Key, steer.Bygone)
			w.mu.Unlock()
			return true
		}
		return w.phase == making && c.Op == resource.Update
	case process.KindName, container.NamesKindName, nsh.PopKindName:
		return c.Op == resource.Delete
	case opens.KindName: // while flows stay, what is no longer wanted opens others
		return c.Op == resource.Delete && !w.ports[c.Key]
	case tuning.KindName: // so do its settings: before what it sends to has gone the kernel may refuse others
		return c.Op == resource.Delete && c.Namespace == namespace.Name(w.owner, plan.WiringNode) && !w.ports[c.Key]
	case pass.KindName:
		return w.passWaits(c)
	case route.KindName:
		return w.routeWaits(c)
	case label.KindName:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.labels = append(w.labels, c)
		return true
	}
	return false
}

// passWaits keeps what packets go through at a port until ports are turned, and so does what takes
// steps away from it. A function that becomes inline, or is so no longer, may meet a packet twice
// meanwhile, but none comes past it. Where packets are led past the port, other steps wait as well that come in the place of those there.
func (w *work) passWaits(c resource.Change) bool {
	if c.Namespace != namespace.Name(w.owner, plan.WiringNode) || !lessens(c) && (!w.bygone.past(c.Key) || extends(c)) {
		return false
	}
	if w.ports[c.Key] {
		w.later = append(w.later, c)
	}
	return true
}

// lessens tells whether a change of a pass puts no step in, and extends whether it takes none away.
func lessens(c resource.Change) bool {
	return c.Op == resource.Delete || c.Op == resource.Update && pass.Lessens(c.Was, c.Spec.Fingerprint())
}

func extends(c resource.Change) bool {
	return c.Op == resource.Create || c.Op == resource.Update && pass.Lessens(c.Spec.Fingerprint(), c.Was)
}

// routeWaits keeps the routes of nodes that stay: to an address that is translated at another place from now on,
// packets may come by here until they go the new way.
func (w *work) routeWaits(c resource.Change) bool {
	if c.Op != resource.Delete {
		return false
	}
	w.mu.Lock()
	w.ledElsewhere = true
	w.mu.Unlock()
	return true
}

// relabel what leaves functions, now that ports know where labels lead.
func (w *work) relabel() error {
	changes := w.labels
	w.labels = nil
	if w.record(changes...); w.dry {
		return nil
	}
	places := map[string][]resource.Change{}
	for _, c := range changes {
		places[c.Namespace] = append(places[c.Namespace], c)
	}
	for place, changes := range places {
		err := w.inside(place, func(h *netns.Handle) error { return (label.Kind{}).Apply(resource.Alone(h, w.owner), changes) })
		if err != nil {
			return err
		}
	}
	return nil
}

// forget ways that were left to packets with labels from before, which have come by meanwhile.
func (w *work) forget(ctx context.Context, p *plan.Plan) error {
	parts := slices.ContainsFunc(p.Resources, func(r resource.Resource) bool {
		s, is := r.Spec.(steer.Spec)
		return is && s.Branch != nil
	})
	if !parts || w.dry {
		return nil
	}
	told := len(w.done)
	err := w.stage(ctx, []resource.Kind{steer.Kind{Leave: true, Relabelled: true, Order: orderOf(p)}}, p)
	w.done = w.done[:told] // the same ports again
	return err
}

// ready what packets meet at ports that all are led past: what is there becomes what is to be before any packet goes by it. Where ports are turned at
// once some packets do before, so that what takes steps away waits until they are.
func (w *work) ready(turned bool) error {
	return w.pass(func(c resource.Change) bool { return w.bygone.past(c.Key) && (turned || !lessens(c)) })
}

// lessen the passes that were left until ports were turned.
func (w *work) lessen() error { return w.pass(func(resource.Change) bool { return true }) }

// pass makes those changes of passes that were left until now and are due.
func (w *work) pass(due func(resource.Change) bool) error {
	var now, later []resource.Change
	for _, c := range w.later {
		if due(c) {
			now = append(now, c)
		} else {
			later = append(later, c)
		}
	}
	w.later = later
	if w.record(now...); w.dry || len(now) == 0 {
		return nil
	}
	return w.inside(namespace.Name(w.owner, plan.WiringNode), func(h *netns.Handle) error {
		return (pass.Kind{}).Apply(resource.Alone(h, w.owner), now)
	})
}

package watch

import (
	"fmt"
	"slices"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// keep watching over functions that are not on the path any more, since flows may stay on an older one by them, or
// with a replica that was taken out.
func (w *Watcher) keep(before *Watcher) error {
	for _, old := range before.nodes {
		is := func(n process.Watched) bool { return n.Node == old.spec.Node }
		if slices.ContainsFunc(w.path.Nodes, is) {
			continue
		}
		w.port(old.spec.West, old.spec)
		w.port(old.spec.East, old.spec)
		if err := w.watch(&node{spec: old.spec, leaving: true, since: time.Now()}); err != nil {
			return err
		}
		if old.failed && old.spec.Of != "" {
			w.left[old.spec.Of] |= steer.Number(old.spec.Number)
		}
	}
	for of, numbers := range before.left {
		w.left[of] |= numbers
	}
	for _, n := range w.path.Nodes {
		if n.Of != "" {
			w.left[n.Of] &^= steer.Number(n.Number) // it is on the path again
		}
	}
	return nil
}

// follow a function that flows go by which stay on an older path. When it fails they go the newest, and nobody
// needs it any more.
func (w *Watcher) follow(n *node, now time.Time) {
	reason := n.reason
	if !n.failed {
		reason = w.ails(n, now)
	}
	if reason == "" || now.Before(w.held) {
		return
	}
	moved, err := w.recall(func(at resource.Place) (int, error) { return steer.ForgetBy(at, w.portsBefore(n)...) })
	if err != nil {
		w.unsure = true // it is tried again
		return
	}
	n.over = true
	w.leave(n)
	if moved > 0 {
		w.config.Say(n.spec.Node, fmt.Sprintf("failed: %s; %s", reason, goNewest(moved)))
	}
	for _, name := range []string{n.spec.West, n.spec.East} {
		w.ports[name].close()
		delete(w.ports, name)
	}
}

// leave a function that has failed and is on the path no more: where it was a replica, what flows it has go to others.
func (w *Watcher) leave(n *node) {
	if n.spec.Of == "" {
		return
	}
	w.left[n.spec.Of] |= steer.Number(n.spec.Number)
	w.turn()
}

// portsBefore a function, by their numbers, of which those are missing that have gone.
func (w *Watcher) portsBefore(n *node) (numbers []uint32) {
	for _, name := range []string{n.spec.West, n.spec.East} {
		if p := w.ports[name]; p.steer != nil {
			numbers = append(numbers, p.steer.Number)
		}
	}
	return numbers
}

// recall flows from older versions of the path to the newest, and tell how many there were.
func (w *Watcher) recall(forget func(at resource.Place) (int, error)) (flows int, err error) {
	h, err := netns.Open(w.path.Forwarder)
	if err != nil {
		return 0, err
	}
	defer h.Close()
	return forget(resource.At(h, w.config.Owner))
}

// disown functions that another supervisor watched over, and that are not on the path: what probes through them are like is not
// known here, so that flows which stay on an older path by them go the newest.
func (w *Watcher) disown(at resource.Place) {
	taken, err := health.Taken(at)
	if err == nil && slices.ContainsFunc(taken, func(port string) bool { return w.ports[port] == nil }) {
		_, err = steer.ForgetOlder(at)
	}
	w.unsure = w.unsure || err != nil
}

// unite flows that stay on older versions of the path, where packets are led past functions: where each version leads
// meanwhile, ports do not know.
func (w *Watcher) unite(led bool) {
	stays := false
	for _, p := range w.ports {
		stays = stays || p.steer != nil && p.steer.Stays()
	}
	if !led || !stays {
		return
	}
	moved, err := w.recall(steer.ForgetOlder)
	if err != nil {
		w.unsure = true // it is read again, and tried then
	}
	if moved > 0 {
		w.sayMoved(moved)
	}
}

// uniteAhead is it of flows that stay by what stands before the programs at ports, which does not know what fails: these go the newest
// version where packets are kept from a replica, too.
func (w *Watcher) uniteAhead(fails bool) {
	if !fails {
		return
	}
	moved, err := w.recall(func(at resource.Place) (int, error) {
		if is, err := steer.KeptAhead(at); err != nil || !is {
			return 0, err
		}
		return steer.ForgetOlder(at)
	})
	if err != nil {
		w.unsure = true // it is read again, and tried then
	}
	if moved > 0 {
		w.sayMoved(moved)
	}
}

// sayMoved tells of functions that fail, and of flows that go the newest path therefore.
func (w *Watcher) sayMoved(moved int) {
	for _, n := range w.nodes {
		if n.failed {
			w.config.Say(n.spec.Node, "fails, and "+goNewest(moved))
		}
	}
}

func goNewest(flows int) string {
	return fmt.Sprintf("%d flows that stayed on an older path go the newest", flows)
}

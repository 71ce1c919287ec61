package deploy

import (
	"errors"
	"io/fs"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// open a place, which is given back by shut. That of the wiring's own stays open until all is done; nobody else works
// there at the same time.
func (w *work) open(place string) (*netns.Handle, error) {
	if place != namespace.Name(w.owner, plan.WiringNode) {
		return netns.Open(place)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.forwarder != nil {
		return w.forwarder, nil
	}
	h, err := netns.Open(place)
	w.forwarder = h
	return h, err
}

// shut a place that was opened.
func (w *work) shut(h *netns.Handle) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h != w.forwarder {
		h.Close()
	}
}

// shutForwarder when all is done.
func (w *work) shutForwarder() {
	if w.forwarder != nil {
		w.forwarder.Close()
	}
}

// inside does something in a namespace, unless that has gone meanwhile or never was whole.
func (w *work) inside(place string, do func(*netns.Handle) error) error {
	h, err := w.open(place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer w.shut(h)
	return do(h)
}

// opened is a place that is opened when it is first asked for.
type opened struct {
	*work
	place string
	there *resource.Place
}

func (o *opened) at() (resource.Place, error) {
	if o.there == nil {
		h, err := o.open(o.place)
		if err != nil {
			return resource.Place{}, err
		}
		at := resource.Alone(h, o.owner)
		o.there = &at
	}
	return *o.there, nil
}

func (o *opened) close() {
	if o.there != nil {
		o.shut(o.there.Handle)
	}
}

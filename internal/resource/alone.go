package resource

import (
	"sync"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
)

// alone are the queueing disciplines of a place in which nobody else makes any, until that is done here.
type alone struct {
	mu     sync.Mutex
	listed bool
	all    []netlink.Qdisc
}

// Alone is At for a place where nobody else changes interfaces and disciplines meanwhile: those that have no filters
// are not asked for them.
func Alone(h *netns.Handle, owner string) Place {
	p := At(h, owner)
	p.alone = &alone{}
	return p
}

// disciplines of a Still place, or of one that this process changes alone.
func (p Place) disciplines() (all []netlink.Qdisc, err error) {
	if p.still != nil {
		return p.QdiscList(nil)
	}
	p.alone.mu.Lock()
	defer p.alone.mu.Unlock()
	if !p.alone.listed {
		if p.alone.all, err = p.Handle.QdiscList(nil); err != nil {
			return nil, err
		}
		p.alone.listed = true
	}
	return p.alone.all, nil
}

// QdiscAdd makes a discipline.
func (p Place) QdiscAdd(q netlink.Qdisc) error {
	if p.alone != nil {
		p.alone.mu.Lock()
		defer p.alone.mu.Unlock()
		p.alone.listed = false
	}
	return p.Handle.QdiscAdd(q)
}

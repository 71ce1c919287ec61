package resource

import (
	"sync"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
)

// still is what many kinds ask for, each for its own objects.
type still struct {
	// inside tells that the thread is in the place's namespace.
	inside      bool
	disciplines func() ([]netlink.Qdisc, error)
	census      func() (netns.Census, error)
	// told is what was asked by [Once].
	told map[any]any
}

// Still is a Place that is only looked at, by one kind after the other: what several ask for is read
// once. The census, of all processes, may be one of several places.
func Still(h *netns.Handle, owner string, census func() (netns.Census, error)) Place {
	p := At(h, owner)
	p.still = &still{false, sync.OnceValues(func() ([]netlink.Qdisc, error) { return h.QdiscList(nil) }), census, map[any]any{}}
	return p
}

// Within runs fn inside the namespace of a Still place, which what fn does by [Place.Do] enters no more.
func (p Place) Within(fn func(Place) error) error {
	return p.Do(func() error {
		inside := *p.still
		inside.inside = true
		p.still = &inside
		return fn(p)
	})
}

// Once asks something a single time while the thread is inside a Still place, where one kind after the other wants to know
// it, and each time in any other place. Its key is of a type of the caller's own.
func Once[K comparable, V any](p Place, key K, ask func() (V, error)) (V, error) {
	if !p.Keeps() {
		return ask()
	}
	if told, is := p.still.told[key]; is {
		return told.(V), nil
	}
	told, err := ask()
	if err == nil {
		p.still.told[key] = told
	}
	return told, err
}

// Keeps tells whether what is asked by [Once] is asked no more.
func (p Place) Keeps() bool { return p.still != nil && p.still.inside }

// Do runs fn inside the namespace of the place.
func (p Place) Do(fn func() error) error {
	if p.Keeps() {
		return fn()
	}
	return p.Handle.Do(fn)
}

// LinkByIndex reads an interface by its number.
func (p Place) LinkByIndex(index int) (netlink.Link, error) {
	if p.still != nil {
		all, err := p.Links()
		for _, l := range all {
			if err == nil && l.Attrs().Index == index {
				return l, nil
			}
		}
	}
	return p.Handle.LinkByIndex(index)
}

// QdiscList lists the queueing disciplines of an interface, or with nil of all.
func (p Place) QdiscList(l netlink.Link) ([]netlink.Qdisc, error) {
	if p.still != nil && l == nil {
		return p.still.disciplines()
	}
	return p.Handle.QdiscList(l)
}

// FilterList lists the filters of an interface that are at a parent. Most interfaces have no discipline
// at which there could be some.
func (p Place) FilterList(l netlink.Link, parent uint32) ([]netlink.Filter, error) {
	if p.still == nil && p.alone == nil {
		return p.Handle.FilterList(l, parent)
	}
	all, err := p.disciplines()
	if err != nil {
		return nil, err
	}
	for _, q := range all {
		if a := q.Attrs(); a.LinkIndex == l.Attrs().Index && (parent == a.Handle || parent>>16 == a.Handle>>16) {
			return p.Handle.FilterList(l, parent)
		}
	}
	return nil, nil
}

// Processes finds those that live in namespaces: pids by name.
func (p Place) Processes(refs ...string) (map[string][]int, error) {
	if p.still == nil {
		return netns.Processes(refs)
	}
	all, err := p.still.census()
	if err != nil {
		return nil, err
	}
	return all.In(refs), nil
}

package pass

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Kind makes passes at interfaces. An interface holds its program, and the program its
// maps: they go with it, and need no process.
type Kind struct {
	// Listens has a NAT that is put in hear answers before it translates: see listen.go. It is for where packets pass already.
	Listens bool
	// Aside tells interfaces by which only packets come that go on as they did before NATs were taken out: these come anew elsewhere.
	Aside func(device string) bool
	// Pause waits as long unless whoever makes passes is interrupted, which is an error, and tells how late it was woken. Without it nobody is.
	Pause func(time.Duration) (late time.Duration, err error)
}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	mine, err := p.Mine()
	if err != nil || len(mine) == 0 {
		return nil, err
	}
	var found []resource.Observed
	err = p.Do(func() error {
		for index, device := range mine {
			all, err := find(p, index)
			if err != nil {
				return err
			}
			if len(all) > 0 {
				found = append(found, resource.Observed{Key: device, Fingerprint: describe(all, mine)})
			}
			held.CloseAll(all)
		}
		return nil
	})
	return found, err
}

// describe what is at an interface: more than one is what should not be.
func describe(all []attached, mine map[int]string) (text string) {
	for i, a := range all {
		if i > 0 {
			text += ", and "
		}
		c, err := a.read()
		if err != nil {
			text += err.Error()
			continue
		}
		text += c.fingerprint(c.taps.names(mine))
	}
	return text
}

// Apply implements resource.Kind.
func (k Kind) Apply(p resource.Place, changes []resource.Change) error {
	if apart(changes) {
		return together(p, changes)
	}
	n := &neighbours{place: p}
	defer n.close()
	return p.Do(func() error {
		changes, err := edit(p, changes)
		if err != nil {
			return err
		}
		fresh, err := k.opening(n, changes)
		if err != nil {
			return err
		}
		if err := n.ready(changes); err != nil {
			return err
		}
		return resource.Make(changes,
			func(device string) error { return remove(p, device, n) },
			func(s Spec) error {
				if fresh[s.Device] && !n.ahead[s.Device].done {
					if err := k.hear(); err != nil {
						return failed(p, s.Device, err)
					}
				}
				return set(p, s, n)
			})
	})
}

// apart tells whether passes come that have nothing which others have, too.
func apart(changes []resource.Change) bool {
	return !slices.ContainsFunc(changes, func(c resource.Change) bool {
		s, is := c.Spec.(Spec)
		return c.Op == resource.Delete || !is || s.ahead()
	})
}

// together has several cores load passes: for each the kernel takes milliseconds.
func together(p resource.Place, changes []resource.Change) error {
	if _, err := p.Links(); err != nil { // which all of them read then
		return err
	}
	errs, due := make([]error, len(changes)), make(chan int)
	var all sync.WaitGroup
	for range min(len(changes), runtime.GOMAXPROCS(0)) {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range due {
				n := &neighbours{place: p}
				errs[i] = p.Do(func() error { return set(p, changes[i].Spec.(Spec), n) })
				n.close()
			}
		}()
	}
	for i := range changes {
		due <- i
	}
	close(due)
	all.Wait()
	return errors.Join(errs...)
}

// remove what is at an interface, unless that has gone.
func remove(p resource.Place, device string, n *neighbours) error {
	dev, err := p.Device(device)
	if err != nil {
		return nil
	}
	all, err := find(p, dev.Attrs().Index)
	defer held.CloseAll(all)
	if err == nil {
		err = take(p, dev.Attrs().Index, all)
	}
	for _, a := range all {
		if err == nil {
			err = n.handOver(a)
		}
	}
	return failed(p, device, err)
}

// take programs away that are at an interface.
func take(p resource.Place, index int, all []attached) error {
	for _, a := range all {
		if err := a.Take(p, index); err != nil {
			return err
		}
	}
	return nil
}

func failed(p resource.Place, device string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("have what comes in by %s of namespace %q take its steps: %w", device, p.Ref, err)
}

// set the pass at an interface: the first that is there is replaced at once, so that no
// packet comes by without one or the other, and what is too many goes. One that is at several is set at all of them.
func set(p resource.Place, s Spec, n *neighbours) error {
	r := n.ahead[s.Device]
	if r == nil {
		var err error
		if r, err = readied(p, []Spec{s}, n); err != nil {
			return failed(p, s.Device, err)
		}
		defer r.close()
		defer n.made(r.Loaded)
	}
	if r.done {
		return nil
	}
	r.done = true
	return failed(p, s.Device, r.put(p, s, n))
}

// CountAt reads what the pass of an interface has counted since it is there; nothing where
// there is none.
func CountAt(p resource.Place, device string) (c Counts, found bool, err error) {
	dev, err := p.Device(device)
	if err != nil {
		return c, false, nil
	}
	err = p.Do(func() error {
		all, err := find(p, dev.Attrs().Index)
		if err != nil || len(all) == 0 {
			return err
		}
		defer held.CloseAll(all)
		found = true
		c, err = all[0].counts()
		return err
	})
	if err != nil {
		err = fmt.Errorf("read the counters of the pass at %s of namespace %q: %w", device, p.Ref, err)
	}
	return c, found, err
}

package pass

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// ready is a pass that is loaded for some interfaces, and the passes that are there.
type ready struct {
	*Loaded
	sites []site
	// beside is one that is at an interface beside these, if those here have none.
	beside []attached
	// done tells that it has been put there.
	done bool
}

// site is an interface, and the passes that are there.
type site struct {
	index int
	all   []attached
}

// ahead tells whether a pass has something in common with others, and is loaded before any of these is put.
func (s Spec) ahead() bool { return knows(s.Steps) || len(s.Beside) > 0 }

// rowOf a spec are those of some changes that are the same pass.
func (s Spec) rowOf(changes []resource.Change) []Spec {
	row := []Spec{s}
	for _, c := range changes {
		if other, is := c.Spec.(Spec); is && c.Op != resource.Delete && slices.Contains(s.Beside, other.Device) {
			row = append(row, other)
		}
	}
	return row
}

// readied is a pass that has been loaded before it is put anywhere: at one interface, or at several that have it in common. Where it
// is at another interface already, that one is it.
func readied(p resource.Place, row []Spec, n *neighbours) (*ready, error) {
	r := &ready{}
	if err := r.load(p, row, n); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *ready) load(p resource.Place, row []Spec, n *neighbours) error {
	for _, s := range row {
		dev, err := p.Device(s.Device)
		if err != nil {
			return err
		}
		all, err := find(p, dev.Attrs().Index)
		r.sites = append(r.sites, site{dev.Attrs().Index, all})
		if err != nil {
			return err
		}
	}
	if err := r.finish(p, n); err != nil {
		return err
	}
	s := row[0]
	if err := r.join(p, s); err != nil {
		return err
	}
	if r.know(); r.Loaded != nil {
		return nil
	}
	taps, err := tapsIn(p, s)
	if err == nil {
		r.Loaded, err = replacing(s, taps, r.old(), n)
	}
	return err
}

// join the interfaces beside these: what is there is the pass, or goes on in it.
func (r *ready) join(p resource.Place, s Spec) error {
	mine, err := p.Mine()
	if err != nil || len(s.Beside) == 0 {
		return err
	}
	for index, device := range mine {
		if !slices.Contains(s.Beside, device) || r.at(index) {
			continue
		}
		all, err := find(p, index)
		if err != nil {
			held.CloseAll(all)
			return err
		}
		if len(all) == 0 {
			continue
		}
		if c, err := all[0].read(); r.Loaded == nil && len(all) == 1 && err == nil && c.fingerprint(c.taps.names(mine)) == s.Fingerprint() {
			r.Loaded = all[0].again(c)
			continue
		}
		r.beside = append(r.beside, all...)
	}
	return nil
}

// know of each pass that is there the steps of others that have its counters, and of the one that is put again.
func (r *ready) know() {
	all := r.first()
	for _, a := range all {
		for _, other := range all {
			if c, err := other.read(); err == nil && other != a && sameMap(a.Maps[countedMap], other.Maps[countedMap]) {
				a.also = append(a.also, c.steps...)
			}
		}
		if r.Loaded != nil && sameMap(a.Maps[countedMap], r.maps[countedMap]) {
			a.also = append(a.also, r.steps...)
		}
	}
}

// first of the passes at each interface, and all those beside.
func (r *ready) first() (all []*attached) {
	for i := range r.sites {
		if at := r.sites[i].all; len(at) > 0 {
			all = append(all, &at[0])
		}
	}
	for i := range r.beside {
		all = append(all, &r.beside[i])
	}
	return all
}

// at tells whether it is for an interface.
func (r *ready) at(index int) bool {
	return slices.ContainsFunc(r.sites, func(s site) bool { return s.index == index })
}

// again is a pass that is at an interface, to be put at others as well.
func (a attached) again(c contents) *Loaded {
	return &Loaded{Program: a.Program.Program, maps: a.Maps, carried: a.Maps[carriedMap], steps: c.steps}
}

// old is the pass in whose place it comes, or beside which it goes on, if there is one.
func (r *ready) old() *attached {
	if all := r.first(); len(all) > 0 {
		return all[0]
	}
	return nil
}

// close what was found where it comes.
func (r *ready) close() {
	for _, s := range r.sites {
		held.CloseAll(s.all)
	}
	held.CloseAll(r.beside)
}

// put it at its interfaces: at those first where there is another, of which it goes on with what that counted. Nobody counts twice
// meanwhile, and none goes uncounted.
func (r *ready) put(p resource.Place, s Spec, n *neighbours) error {
	groups := r.replaced()
	for i, same := range groups {
		var err error
		if old := same[0].all[0]; len(s.Beside) == 0 || !one(old.Program.Program, r.Program) {
			err = r.putFor(p, same, s, n, r.staysFor(old, groups[i+1:]))
		}
		for _, at := range same {
			if err == nil && len(at.all) > 1 {
				err = take(p, at.index, at.all[1:])
			}
		}
		if err != nil {
			return err
		}
	}
	for _, at := range r.sites {
		if len(at.all) > 0 {
			continue
		}
		if err := held.Put(p, at.index, held.Passes, r.Program); err != nil {
			return err
		}
	}
	return nil
}

// staysFor a while a pass that counts where one does that is replaced: at interfaces that come later.
func (r *ready) staysFor(old attached, later [][]site) bool {
	counts := func(a attached) bool { return sameMap(a.Maps[countedMap], old.Maps[countedMap]) }
	return slices.ContainsFunc(r.beside, counts) || slices.ContainsFunc(later, func(g []site) bool { return counts(g[0].all[0]) })
}

// replaced are the interfaces that have passes, those that have the same one together.
func (r *ready) replaced() (groups [][]site) {
next:
	for _, at := range r.sites {
		if len(at.all) == 0 {
			continue
		}
		for i, other := range groups {
			if one(other[0].all[0].Program.Program, at.all[0].Program.Program) {
				groups[i] = append(other, at)
				continue next
			}
		}
		groups = append(groups, []site{at})
	}
	return groups
}

// one tells whether two are one program of the kernel's.
func one(a, b *ebpf.Program) bool {
	first, err := numberOf(a)
	second, wrong := numberOf(b)
	return err == nil && wrong == nil && first == second
}

// putFor puts a pass in the place of another one, which is at some interfaces, and may stay at others.
func (l *Loaded) putFor(p resource.Place, at []site, s Spec, n *neighbours, stays bool) error {
	old := at[0].all[0]
	return n.takeOver(l, old, func() error { return l.replace(p, at, s, &old, stays) })
}

// takeOver what another pass knows by one that is put in its place.
func (n *neighbours) takeOver(l *Loaded, old attached, put func() error) error {
	if err := n.catchUp(l, old); err != nil {
		return err
	}
	if err := put(); err != nil {
		return err
	}
	return n.handOver(old, l)
}

// takePlaces of a pass at interfaces.
func (l *Loaded) takePlaces(p resource.Place, at []site) error {
	for _, s := range at {
		if err := s.all[0].Replace(p, s.index, l.Program); err != nil {
			return err
		}
	}
	return nil
}

// numberOf a program in the kernel.
func numberOf(p *ebpf.Program) (ebpf.ProgramID, error) {
	info, err := p.Info()
	if err != nil {
		return 0, fmt.Errorf("ask for a program: %w", err)
	}
	id, has := info.ID()
	if !has {
		return 0, errors.New("the kernel does not tell the number of a program")
	}
	return id, nil
}

// sameMap tells whether two are one map of the kernel's.
func sameMap(a, b *ebpf.Map) bool {
	if a == nil || b == nil {
		return a == b
	}
	first, err := held.NumberOf(a)
	second, wrong := held.NumberOf(b)
	return err == nil && wrong == nil && first == second
}

package steer

import (
	"fmt"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Where a chain's classifier is taken away, its ends have one without rules until no flow is on an older path: it leads all others as the
// chain does, and whoever reads a port finds it a plain one.

// taken tells whether ends that choose paths are to do so no longer, or lead all by one path already.
func taken(ends []*attached, changes []resource.Change) (bool, error) {
	if slices.ContainsFunc(changes, begins) {
		return false, nil
	}
	for _, a := range ends {
		if changeAt(changes, a.port) >= 0 {
			return true, nil
		}
		if number, _, err := a.unclassified(); number != 0 || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// changeAt is the place of a port's change; below 0 where there is none.
func changeAt(changes []resource.Change, port string) int {
	return slices.IndexFunc(changes, func(c resource.Change) bool { return c.Key == port })
}

// mayTake tells whether flows can stay on paths though the chain is to have no classifier: ways do not part, and no function gets headers, which
// say paths.
func mayTake(ports []*attached, changes []resource.Change) bool {
	alone := func(c resource.Change) bool {
		s := c.Spec.(Spec)
		return s.Paths == nil && s.Branch == nil && !sends(s)
	}
	named := func(a *attached) bool {
		ways, err := a.byPathsTo()
		return err != nil || slices.ContainsFunc(ways, func(to uint32) bool { _, shared := seatOf(to); return !shared && to&byDevice != 0 })
	}
	return !slices.ContainsFunc(changes, func(c resource.Change) bool { return !alone(c) }) && !slices.ContainsFunc(ports, named)
}

// byPathsTo is where a program leads by paths.
func (a *attached) byPathsTo() (to []uint32, err error) {
	if !a.leadsByPath() {
		return nil, nil
	}
	ways, err := a.allWays()
	for _, w := range ways {
		if w.Port != 0 {
			to = append(to, w.Port)
		}
	}
	return to, err
}

// unclassify has ends lead all flows by one path but those that stay on older ones, if these changes are of a chain that has no classifier, and
// ports that are changed to lead to replicas.
func (k Kind) unclassify(p resource.Place, changes []resource.Change) ([]resource.Change, error) {
	if k.Settled {
		return stillUnclassified(p, changes)
	}
	if len(k.older) == 0 {
		return changes, nil
	}
	all, err := portsThat(p, (*attached).leadsByPath)
	defer held.CloseAll(all)
	if err != nil {
		return nil, err
	}
	ends := slices.DeleteFunc(slices.Clone(all), func(a *attached) bool { return !a.begins() })
	if is, err := taken(ends, changes); err != nil || !is {
		return changes, err
	}
	number, err := freeNumber(all)
	if err != nil {
		return nil, err
	}
	u := unruled{number: number, flows: ends[0].Maps[membersMap].MaxEntries(), idle: changes[0].Spec.(Spec).Stay.Idle}
	changes = slices.Clone(changes)
	for _, a := range ends {
		i := changeAt(changes, a.port)
		if s, is := k.Turn.Specs[a.port]; i < 0 && is {
			i, changes = len(changes), append(changes, resource.Change{Op: resource.Update, Kind: KindName, Key: a.port, Spec: s})
		}
		if i < 0 {
			continue
		}
		if changes[i].Spec, err = u.end(changes[i].Spec.(Spec), a); err != nil {
			return nil, err
		}
	}
	for i, c := range changes {
		if s := c.Spec.(Spec); s.Paths == nil && s.Among != nil {
			changes[i].Spec = u.between(s)
		}
	}
	return changes, nil
}

// stillUnclassified are changes of replicas at ports that lead all flows to these but those on older paths: they go on doing so.
func stillUnclassified(p resource.Place, changes []resource.Change) ([]resource.Change, error) {
	all, err := portsThat(p, (*attached).leadsByPath)
	defer held.CloseAll(all)
	if err != nil {
		return nil, err
	}
	changes = slices.Clone(changes)
	for _, a := range all {
		i := changeAt(changes, a.port)
		if i < 0 {
			continue
		}
		number, _, err := a.unclassified()
		s, is := changes[i].Spec.(Spec)
		if err != nil || !is || number == 0 || s.Paths != nil || s.Among == nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		u := unruled{number: number, flows: a.Maps[membersMap].MaxEntries(), idle: s.Among.Idle}
		if !a.begins() {
			changes[i].Spec = u.between(s)
		} else if changes[i].Spec, err = u.end(s, a); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

// unruled is how ports lead all flows by one path of this number, as long as others stay on older ones.
type unruled struct {
	number int
	flows  uint32
	idle   api.Duration
}

// end leads to where a spec of it says.
func (u unruled) end(s Spec, a *attached) (Spec, error) {
	var side uint32
	err := a.Maps[sideMap].Lookup(uint32(0), &side)
	s = u.on(s)
	s.Paths.Choice, s.Paths.End = &Choice{Otherwise: unclassified}, int(side)+FirstEnd
	return s, err
}

// between functions it does so by the usual path.
func (u unruled) between(s Spec) Spec {
	s = u.on(s)
	s.Paths.Usual = unclassified
	return s
}

func (u unruled) on(s Spec) Spec {
	w, on := Way{Path: unclassified, Number: u.number, Port: s.To}, &Paths{Flows: u.flows, Idle: u.idle}
	if s.Among != nil {
		on.Among = []Among{*s.Among}
		if s.To == "" {
			w.Of = s.Among.Of
		}
	}
	on.Ways = []Way{w}
	return Spec{Device: s.Device, Hook: s.Hook, Paths: on}
}

// freeNumber that no path has at ports.
func freeNumber(all []*attached) (int, error) {
	has := map[int]bool{}
	for _, a := range all {
		ways, err := a.allWays()
		if err != nil {
			return 0, err
		}
		for n, w := range ways {
			has[n] = has[n] || w.Port != 0
		}
	}
	for n := MostPaths; n > 0; n-- {
		if !has[n] {
			return n, nil
		}
	}
	return 0, fmt.Errorf("flows still go by %d paths, and there can be no more; wait until they have been idle, or move them (`nfchain up FILE --move`)", MostPaths)
}

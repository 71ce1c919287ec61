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

// mayTake tells whether flows can stay on paths though the chain is to have no classifier: each port is to lead to one other, and no function
// gets headers, which say them.
func mayTake(ports []*attached, changes []resource.Change) bool {
	alone := func(c resource.Change) bool {
		s := c.Spec.(Spec)
		return s.Paths == nil && s.Among == nil && s.Branch == nil && !sends(s)
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

// unclassify has ends lead all flows by one path but those that stay on older ones, if these changes are of a chain that has no classifier.
func (k Kind) unclassify(p resource.Place, changes []resource.Change) ([]resource.Change, error) {
	if len(k.older) == 0 {
		return changes, nil
	}
	all, err := portsThat(p, (*attached).leadsByPath)
	defer held.CloseAll(all)
	if err != nil {
		return nil, err
	}
	ends := slices.DeleteFunc(slices.Clone(all), func(a *attached) bool { return a.Maps[currentMap] == nil })
	if is, err := taken(ends, changes); err != nil || !is {
		return changes, err
	}
	number, err := freeNumber(all)
	if err != nil {
		return nil, err
	}
	of := changes[0].Spec.(Spec)
	changes = slices.Clone(changes)
	for _, a := range ends {
		to := ""
		i := changeAt(changes, a.port)
		if i >= 0 {
			to = changes[i].Spec.(Spec).To
		} else if to, err = a.goesTo(p); err != nil || to == "" {
			return changes, err
		}
		s, err := a.unruledTo(to, number, of.Stay.Idle)
		if err != nil {
			return nil, err
		}
		if i < 0 {
			i, changes = len(changes), append(changes, resource.Change{Op: resource.Update, Kind: KindName, Key: a.port})
		}
		changes[i].Spec = s
	}
	return changes, nil
}

// goesTo is the port that an end without rules leads to; "" where it has some.
func (a *attached) goesTo(p resource.Place) (string, error) {
	to, err := a.leadsAll()
	if err != nil || to == 0 {
		return "", err
	}
	return called(p, int(to)), nil
}

// unruledTo is the spec of an end as long as flows stay on older paths: all others go to a port.
func (a *attached) unruledTo(to string, number int, idle api.Duration) (Spec, error) {
	var side uint32
	err := a.Maps[sideMap].Lookup(uint32(0), &side)
	ways := []Way{{Path: unclassified, Number: number, Port: to}}
	on := &Paths{Ways: ways, Choice: &Choice{Otherwise: unclassified}, End: int(side) + FirstEnd, Flows: a.Maps[membersMap].MaxEntries(), Idle: idle}
	return Spec{Device: a.port, Hook: a.hook, Paths: on}, err
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

package steer

import (
	"slices"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/classify"
	"nfchain.dev/nfchain/internal/resource"
)

// present are the programs at a port: what stands before others, and what sends packets on there or behind it.
type present struct{ front, rest *attached }

func presentAt(all []*attached, hook string) (now present) {
	for _, a := range slices.Backward(all) {
		switch {
		case a.hook != hook || a.between() || a.leads():
		case a.front:
			now.front = a
		default:
			now.rest = a
		}
	}
	return now
}

// before is what was at a port where a program is to be: what it comes in the place of, and what is beside that, if that leads paths that
// ends still give.
type before struct {
	old, beside *attached
	// stands tells that it is before others for a while only, and counts with them; stays that these lead former paths until then.
	stands, stays bool
}

// counted is what it goes on from.
func (b before) counted() *attached {
	if b.old == nil && b.stands {
		return b.beside
	}
	return b.old
}

// seats that it has were this program's.
func (b before) seats() *attached {
	if b.old == nil {
		return b.beside
	}
	return b.old
}

// byPaths is what led paths; nil where nothing told them apart.
func (b before) byPaths() *attached {
	for _, a := range []*attached{b.old, b.beside} {
		if a != nil && a.isByPaths() && a.Maps[waysMap] != nil {
			return a
		}
	}
	return nil
}

// planned is where a program sends packets that have no other way: a port, or replicas at one of its seats; 0 where nobody knows.
func (a *attached) planned() (to uint32, err error) {
	switch {
	case a == nil:
		return 0, nil
	case a.Name == Name || a.Name == SpreadName:
		return a.next()
	case a.Name == BranchName:
		made, err := a.parting()
		if err != nil || len(made.ways) == 0 {
			return 0, err
		}
		return made.ways[0].Port, nil
	case a.keeps():
		return a.newestWay()
	}
	return a.leadsAll()
}

// leadFormer paths, which a program is to lead no longer, where they were led before: ends still give them, and it is told to forget
// them as soon as those do not.
func (k Kind) leadFormer(s Spec, was before, ways, former *ebpf.Map) error {
	led, err := k.formerWays(s, was)
	for n, w := range led {
		i := slices.IndexFunc(s.Paths.Ways, func(w Way) bool { return w.Number == n })
		switch {
		case err != nil:
		case i < 0:
			err = ways.Put(uint32(n), w)
		case w.Check != checkOf(s.Paths.Ways[i].Path):
			err = former.Put(uint32(n), w)
		}
	}
	return err
}

// formerWays are those that there are of former paths at a port.
func (k Kind) formerWays(s Spec, was before) (map[int]classify.ProgramWay, error) {
	by := was.byPaths()
	switch {
	case by == nil && was.stays:
		return k.former(s.Device, behind), nil
	case by == nil:
		to, err := was.seats().planned()
		return k.former(s.Device, to), err
	}
	led, err := by.allWays()
	if err != nil {
		return nil, err
	}
	detours := make([]classify.ProgramWay, len(led))
	if by.Maps[detoursMap] != nil {
		if err := eachOf(by.Maps[detoursMap], func(n uint32, to classify.ProgramWay) { detours[n] = to }); err != nil {
			return nil, err
		}
	}
	next, err := was.old.planned() // what is behind the one that led paths, if that was before others
	if err != nil {
		return nil, err
	}
	all := map[int]classify.ProgramWay{}
	if led[0].Port != behind {
		all = k.former(s.Device, led[0].Port)
	}
	for n, w := range led {
		if n == 0 || w.Port == 0 || w.Older != 0 {
			continue
		}
		if d := detours[n]; d.Port != 0 && d.Check == w.Check {
			w.Port = d.Port
		}
		from := by
		if w.Port == behind && by != was.old { // what was behind it is to go
			w.Port, from = k.past(s.Device, next), was.old
		}
		if _, shared := seatOf(w.Port); w.Port != 0 && (!shared || from == was.seats()) {
			all[n] = w
		}
	}
	return all, nil
}

// former paths that are led to one port, or past it.
func (k Kind) former(from string, to uint32) map[int]classify.ProgramWay {
	all := map[int]classify.ProgramWay{}
	if to = k.past(from, to); to == 0 {
		return all
	}
	for n, check := range k.late.former {
		all[n] = classify.ProgramWay{Port: to, Check: check}
	}
	return all
}

// past a port that packets are led to, if what is behind it fails.
func (k Kind) past(from string, to uint32) uint32 {
	if past := k.detours.past(from, to); past != 0 {
		return past
	}
	return to
}

// ahead puts a program before others at a port between functions until ends give flows paths by other rules, if what is to be there does not
// tell paths apart, or what is there has ways part that flows are led by until then: that is replaced then, for which the port waits.
func (k Kind) ahead(p resource.Place, s Spec, index int, now present) (waits bool, err error) {
	front, rest := s.apart()
	if l := k.late; !l.ends || len(l.former) == 0 || front != nil || now.rest == nil {
		return false, nil
	}
	f := Spec{Device: s.Device, Hook: s.Hook}
	was := before{old: now.front, beside: now.rest, stands: true}
	switch {
	case k.late.parts && rest.Branch == nil:
		waits, was.stays = true, true
		f.Paths = rest.ahead(k.late.flows)
	case !k.late.fronted && rest.Paths == nil && !k.late.begins[s.Device]:
		f.Paths = &Paths{Ways: []Way{{Behind: true}}, Flows: k.late.flows}
	default:
		return false, nil
	}
	to, err := indexes(p, f.ports())
	if err == nil {
		err = k.keepPaths(p, f, fronts[s.Hook], index, to, was)
	}
	if err != nil {
		return false, err
	}
	if waits {
		k.late.waiting = append(k.late.waiting, s)
	} else {
		k.late.ports = append(k.late.ports, s.Device)
	}
	return waits, nil
}

// ahead is what a spec says, for a program that tells paths apart.
func (s Spec) ahead(flows uint32) *Paths {
	switch {
	case s.Paths != nil:
		return s.Paths
	case s.To == "":
		return &Paths{Ways: []Way{{Of: s.Among.Of}}, Among: []Among{*s.Among}, Flows: flows}
	}
	return &Paths{Ways: []Way{{Port: s.To}}, Flows: flows}
}

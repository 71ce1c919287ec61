package steer

import (
	"errors"
	"fmt"
	"time"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/stay"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Turn tells of the ports around those that are turned.
type Turn struct {
	// Wanted ports of the chain as it is to be; others lead where they led until they go.
	Wanted map[string]bool
	// New ones have just been made: what comes in there is of the newest version.
	New map[string]bool
	// Labels that packets bear from now on which come in at ports, and those that they bore.
	Labels map[string][]Label
	// AtOnce has no flow stay. Those that stayed from before move, and Moved is how many.
	AtOnce bool
	Moved  int
	// Led is set where ports that were there lead elsewhere, and no flow stays on the path that it began on.
	Led bool
	// Specs of the wanted ports, by these.
	Specs map[string]Spec
	// Census is how long flows are to be entered that there are before ports are turned, where they are introduced.
	Census time.Duration
	// Pause waits as long unless whoever turns ports is interrupted, which is an error. Without it nobody is.
	Pause func(time.Duration) error
	// Ready makes what waits for the ports: all of it once they are turned and before new flows go that way, or what cannot wait so long where
	// they are turned at once. Without it nothing does.
	Ready func(turned bool) error
}

// versionable are the changes by which ports that lead to one port are turned to another: all of them,
// or none, since a flow that stays at one port must not be moved at the next. Nor does any stay while packets are led
// past what fails: where each version leads meanwhile, nobody says.
func (k Kind) versionable(p resource.Place, changes []resource.Change) (turned map[string]Spec, err error) {
	if k.Turn == nil || k.Turn.AtOnce || len(changes) == 0 {
		return nil, nil
	}
	turned = map[string]Spec{}
	for _, c := range changes {
		s, is := c.Spec.(Spec)
		if !is || s.Stay == nil || s.Paths != nil || s.Among != nil || s.Branch != nil || c.Op != resource.Update {
			return nil, nil
		}
		dev, err := p.Device(s.Device)
		if err != nil {
			return nil, err
		}
		all, err := find(p, dev.Attrs().Index)
		fits := len(all) == 1 && all[0].hook == s.Hook && (all[0].Name == Name || all[0].keeps())
		held.CloseAll(all)
		if err != nil || !fits {
			return nil, err
		}
		turned[s.Device] = s
	}
	if kept, err := ahead(p); err != nil || len(kept) > 0 { // by which they stay there, too
		held.CloseAll(kept)
		return nil, err
	}
	other, err := diverted(p, func(a *attached) (bool, error) {
		led, err := a.ledPast()
		return led || a.leadsByPath(), err
	})
	if other || err != nil {
		return nil, err
	}
	return turned, nil
}

// ready to have packets go by ports, before any or when all are turned.
func (t *Turn) ready(turned bool) error {
	if t != nil && t.Ready != nil {
		return t.Ready(turned)
	}
	return nil
}

// pause for a while.
func (t *Turn) pause(while time.Duration) error {
	if t != nil && t.Pause != nil {
		return t.Pause(while)
	}
	time.Sleep(while)
	return nil
}

// gather flows that stay on older versions into the newest, since ports are to be turned at once: they would stay
// at some and not at others.
func (t *Turn) gather(p resource.Place, changes []resource.Change) error {
	led, err := leadElsewhere(p, changes)
	if err != nil {
		return err
	}
	t.Led = t.Led || led
	s, err := stayingOn(p)
	if err != nil || s == nil {
		return err
	}
	t.Moved += s.Flows
	return unite(p)
}

// advance to the next version of the path: first all ports that are concerned know where it leads, and then
// one word gives it to new flows at all of them. Who is known goes on by the version that he has.
func (k Kind) advance(p resource.Place, turned map[string]Spec) error {
	all, err := portsThat(p, func(a *attached) bool { return a.Name == Name || a.keeps() })
	defer held.CloseAll(all)
	if err != nil {
		return err
	}
	a, err := k.advancing(p, turned, all)
	if err != nil {
		return err
	}
	defer a.close()
	for _, at := range all {
		if err := a.tell(p, at); err != nil {
			return failed(p, at.port, err)
		}
	}
	if err := a.begin(); err != nil {
		return err
	}
	_, err = forgetLost(p)
	return err
}

// advancing is one such step.
type advancing struct {
	versions
	turn *Turn
	// to which ports those that are turned lead, by their numbers.
	to   map[string]uint32
	stay Stay
	// number of the version that is to begin, and those that there are.
	number uint32
	lives  []uint32
	// own tells that the maps were made here.
	own bool
	// opened programs at ports.
	opened []*attached
}

func (a *advancing) close() {
	if a == nil {
		return
	}
	held.CloseAll(a.opened)
	if a.own {
		a.closeShared()
	}
}

func (k Kind) advancing(p resource.Place, turned map[string]Spec, all []*attached) (*advancing, error) {
	a := &advancing{turn: k.Turn, to: map[string]uint32{}}
	for port, s := range turned {
		to, err := indexes(p, []string{s.To})
		if err != nil {
			return nil, err
		}
		a.to[port], a.stay = to[0], *s.Stay
	}
	return a, a.among(all)
}

// among the ports where flows stay find the versions that there are, and a number for the next one.
func (a *advancing) among(all []*attached) error {
	for _, at := range all {
		if at.keeps() || at.keepsAhead() {
			a.at = append(a.at, at)
			a.know(at)
		}
	}
	if a.shared == nil {
		return a.found()
	}
	if err := a.shared.Lookup(uint32(0), &a.now); err != nil {
		return err
	}
	left, err := a.open()
	if err != nil {
		return err
	}
	if err := a.turn.pause(left); err != nil { // one census at a time
		return err
	}
	if err := a.forgetIdle(); err != nil {
		return err
	}
	return a.choose()
}

// found the first version, which is what ports do now, and choose the second.
func (a *advancing) found() error {
	spec, err := stayObject()
	if err != nil {
		return err
	}
	if err := a.make(spec, a.stay.Flows); err != nil {
		return err
	}
	a.own, a.lives, a.number = true, []uint32{1}, 2
	a.now = stay.ProgramVersions{Newest: 1<<32 | 1, Idle: uint64(a.stay.Idle)}
	return a.shared.Put(uint32(0), a.now)
}

// choose a number for the version that is to begin.
func (a *advancing) choose() error {
	used := map[uint32]bool{a.newest(): true}
	for _, at := range a.at {
		for n := uint32(1); n <= mostVersions; n++ {
			var to uint32
			if err := at.Maps[waysMap].Lookup(n, &to); err != nil {
				return err
			}
			used[n] = used[n] || to != 0
		}
	}
	for n := uint32(1); n <= mostVersions; n++ {
		switch {
		case used[n]:
			a.lives = append(a.lives, n)
		case a.number == 0:
			a.number = n
		}
	}
	if a.number == 0 {
		return fmt.Errorf("flows still go by %d versions of the path, and there can be no more; wait until they have been idle, or move them (`nfchain up FILE --move`)", mostVersions)
	}
	return nil
}

// tell a port where the next version leads from there, with a program that knows versions if that leads
// elsewhere, or if flows are given a version there.
func (a *advancing) tell(p resource.Place, at *attached) error {
	to, turned := a.to[at.port]
	here := a.here(at.port)
	if at.keeps() {
		return a.tellAgain(at, to, here)
	}
	if !turned && here == 0 {
		return nil
	}
	next, err := at.next()
	if err != nil {
		return err
	}
	if !turned {
		to = next
	}
	program, err := a.load(at, next, to, here)
	if err != nil {
		return err
	}
	defer func() { _ = program.Close() }()
	dev, err := p.Device(at.port)
	if err != nil {
		return err
	}
	return hooks[at.hook].put(p, dev.Attrs().Index, program.Stay, at.program())
}

// tellAgain a port at which flows stay already.
func (a *advancing) tellAgain(at *attached, to, here uint32) error {
	ways := at.Maps[waysMap]
	var next, was uint32
	if err := errors.Join(ways.Lookup(a.newest(), &next), ways.Lookup(uint32(0), &was)); err != nil {
		return err
	}
	if to == 0 {
		to = next
	}
	if was != 0 && here == a.newest() {
		here = was // it went earlier
	}
	return errors.Join(ways.Put(uint32(0), here), ways.Put(a.number, to))
}

// load the program for a port that led to next, and from the next version on leads to another one.
func (a *advancing) load(old *attached, next, to, here uint32) (*stay.ProgramObjects, error) {
	spec, err := stayObject()
	if err != nil {
		return nil, err
	}
	spec.Programs["stay"].Name = StayName
	maps := counting(spec, old)
	a.share(spec, maps)
	loaded := &stay.ProgramObjects{}
	if err := spec.LoadAndAssign(loaded, &ebpf.CollectionOptions{MapReplacements: maps}); err != nil {
		return nil, fmt.Errorf("load the program that has flows stay: %w", err)
	}
	err = errors.Join(leads(loaded.Instead), loaded.Ways.Put(uint32(0), here), loaded.Ways.Put(a.number, to))
	for _, n := range a.lives {
		err = errors.Join(err, loaded.Ways.Put(n, next))
	}
	if err != nil {
		_ = loaded.Close()
		return nil, err
	}
	return loaded, nil
}

// begin to give flows the next version. What is no longer the newest is that of flows from before only
// when the census counts, and one word changes at a time that matters: the kernel may write words in any order.
func (a *advancing) begin() error {
	if err := a.turn.ready(true); err != nil {
		return err
	}
	now, err := monotonic()
	if err != nil {
		return err
	}
	newest := uint64(a.newest())
	a.now.Newest = newest<<32 | newest
	if err := a.shared.Put(uint32(0), a.now); err != nil {
		return err
	}
	a.now = stay.ProgramVersions{Until: uint64(now) + uint64(a.stay.Census), Idle: uint64(a.stay.Idle), Since: uint64(now), Newest: a.now.Newest}
	if err := a.shared.Put(uint32(0), a.now); err != nil {
		return err
	}
	a.now.Newest = newest<<32 | uint64(a.number)
	return a.shared.Put(uint32(0), a.now)
}

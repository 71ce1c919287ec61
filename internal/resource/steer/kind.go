package steer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Kind makes programs at ports.
type Kind struct {
	// Leave packets with labels from before the ways that these led, where branches change.
	Leave bool
	// Relabelled tells that what leaves functions has no labels from before, so that no ways are left to them.
	Relabelled bool
	// Turn has ports turned by a new version of the path, so that flows stay on the one before where
	// specs say so; nil where all packets go the new way at once.
	Turn *Turn
	// Introduces has ports know the flows that there are, where Turn is to have them stay on their path though the chain is given a
	// classifier, and turns none: who does that then waits for the census that Turn tells of.
	Introduces bool
	// Settled tells that only replicas are to go which are no longer wanted and have no flows: older paths stay.
	Settled bool
	// Order of the ports of the chain as it is to be: the place of the node behind each, from the first endpoint on, below 0
	// where packets leave it for the second one. From such a port packets go on to another, and not back to where they were, if
	// both make more than 0; so do others, on their way back. nil where nobody knows.
	Order map[string]int
	// choices of paths that are being put into the kernel.
	choices choices
	// older paths that flows stay on meanwhile.
	older older
	// outgrown tables that others come in the place of.
	outgrown *outgrown
	// detours around nodes that fail meanwhile.
	detours detoured
	// common tables of the ports that are changed.
	common *common
	// aside tells that nothing is changed but what stands before others, or which replicas there are: flows stay where they are.
	aside bool
	// late fronts go when ends no longer give the paths that they lead.
	late *late
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
			text, err := observe(p, index)
			if err != nil {
				return err
			}
			if text != "" {
				found = append(found, resource.Observed{Key: device, Fingerprint: text})
			}
		}
		return nil
	})
	return found, err
}

// observe writes down what is at an interface; nothing is "".
func observe(p resource.Place, index int) (text string, err error) {
	all, err := findAll(p, index)
	defer held.CloseAll(all)
	if err != nil {
		return "", err
	}
	if p.Keeps() { // who asks that next need not open them again
		_, _ = resource.Once(p, divertedPort{index}, func() (bool, error) { return anyDiverts(all, (*attached).diverts) })
	}
	var texts []string
	for _, a := range all {
		text, err := a.observed(p)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, together), nil
}

// observed is it of one program.
func (a *attached) observed(p resource.Place) (text string, err error) {
	to, err := a.whither(p)
	if err != nil {
		return "", err
	}
	name := a.Name
	all, err := a.leadsAll()
	if err != nil {
		return "", err
	}
	if a.keeps() || all != 0 {
		name = Name // which it is again once no flow goes by an older version
	}
	if table, err := a.dealsAll(); err != nil || table != "" {
		return fingerprint(to, a.hook, SpreadName), err
	}
	return fingerprint(to, a.hook, name), nil
}

// called is the name of the port that a program has the number of.
func called(p resource.Place, number int) string {
	links, _ := p.Links()
	index := number &^ byDevice
	for _, l := range links {
		if l.Attrs().Index == index {
			return l.Attrs().Name
		}
	}
	return fmt.Sprintf("interface %d, which is gone", index)
}

// Apply implements resource.Kind.
func (k Kind) Apply(p resource.Place, changes []resource.Change) error {
	k.choices, k.common, k.late = choices{}, &common{}, &late{}
	defer k.common.close()
	if k.Introduces {
		return p.Do(func() error { return k.introduce(p, changes) })
	}
	return p.Do(func() error {
		if err := k.late.look(p, changes); err != nil {
			return err
		}
		changes = k.late.last(changes)
		turned, err := k.versionable(p, changes)
		if err != nil {
			return err
		}
		if len(turned) > 0 {
			return k.advance(p, turned)
		}
		next, none, err := k.keepAhead(p, changes)
		if err != nil {
			return err
		}
		defer next.close()
		if k.older, err = k.aging(p, changes); err != nil {
			return err
		}
		k.late.leave(k.older)
		if changes, err = k.unclassify(p, changes); err != nil {
			return err
		}
		if k.Turn != nil && len(changes) > 0 && len(k.older) == 0 && next == nil {
			k.aside = none
			if !k.aside {
				k.aside, err = k.asideAlone(p, changes)
			}
			if err == nil && !k.aside {
				err = k.Turn.gather(p, changes)
			}
			if err == nil {
				err = k.Turn.ready(false)
			}
			if err != nil {
				return err
			}
		}
		if k.detours, err = k.detoursAt(p, changes); err != nil { // which who gathers flows may have left to programs that know one path
			return err
		}
		now, err := monotonic()
		if err != nil {
			return err
		}
		k.outgrown = &outgrown{began: uint64(now)}
		defer k.outgrown.close()
		err = resource.Make(changes,
			func(port string) error { return remove(p, port) },
			func(s Spec) error { return k.set(p, s) })
		if err != nil {
			return err
		}
		if err := k.outgrown.handOver(p); err != nil {
			return fmt.Errorf("hand known flows over in namespace %q: %w", p.Ref, err)
		}
		if err := k.classifyBy(p, changes); err != nil {
			return err
		}
		if k.Settled {
			if err := dealAhead(p, changes); err != nil {
				return err
			}
		}
		if next != nil {
			if err := next.begin(); err != nil {
				return err
			}
			if _, err := forgetLost(p); err != nil {
				return err
			}
		}
		return k.takeLate(p)
	})
}

// remove what is at a port, unless that has gone.
func remove(p resource.Place, port string) error {
	dev, err := p.Device(port)
	if err != nil {
		return nil
	}
	all, err := findAll(p, dev.Attrs().Index)
	if err == nil {
		var kept []*attached
		kept, err = findKeeping(p, dev.Attrs().Index)
		all = append(all, kept...)
	}
	defer held.CloseAll(all)
	for _, a := range all {
		if err := a.at().take(p, dev.Attrs().Index, a.Program.Program); err != nil {
			return failed(p, port, err)
		}
	}
	return err
}

func failed(p resource.Place, port string, err error) error {
	return fmt.Errorf("steer what comes in by port %s of namespace %q: %w", port, p.Ref, err)
}

// set where a port's packets go. Where this version's program is there already only that is
// changed, and no packet is lost meanwhile; nor where it replaces another at the same hook.
func (k Kind) set(p resource.Place, s Spec) error {
	dev, err := p.Device(s.Device)
	if err != nil {
		return err
	}
	all, err := findAll(p, dev.Attrs().Index)
	defer held.CloseAll(all)
	if err == nil {
		err = k.outgrown.note(p, all, s.rooms())
	}
	if err == nil {
		err = k.turn(p, s, dev.Attrs().Index, all)
	}
	if err != nil {
		return failed(p, s.Device, err)
	}
	return nil
}

// Sending begins the name of a port whose node takes nothing but what the port itself sends:
// something is before the node's interface that would not see what is handed over to it.
const Sending = "send"

// Beside begins the name of an end of a pair beside a node, into which packets are sent that are led past it: they come in at its other end.
const Beside = "past"

// byDevice is set in the number of such a port, as bpf/include/onward.h has it.
const byDevice = 1 << 31

// number of a port, as programs have it that send packets there: the index of its interface.
func number(l netlink.Link) uint32 {
	if name := l.Attrs().Name; strings.HasPrefix(name, Sending) || strings.HasPrefix(name, Beside) || strings.HasPrefix(name, Bygone) {
		return uint32(l.Attrs().Index) | byDevice
	}
	return uint32(l.Attrs().Index)
}

// numbers of the ports that there are.
func numbers(p resource.Place) (map[uint32]bool, error) {
	links, err := p.Links()
	there := map[uint32]bool{}
	for _, l := range links {
		there[number(l)] = true
	}
	return there, err
}

// indexes of ports by their names, as programs have them; of "", what stands in the place of one.
func indexes(p resource.Place, ports []string) (all []uint32, err error) {
	for _, port := range ports {
		if port == "" {
			all = append(all, behind)
			continue
		}
		dev, err := p.Device(port)
		if err != nil {
			return nil, err
		}
		all = append(all, number(dev))
	}
	return all, nil
}

// turn a port, at which these programs are, to others. What is to stand before others comes first, and what is superfluous
// goes last, from behind: no packet meets one without the other. What leads paths that ends give until all ports are turned stays.
func (k Kind) turn(p resource.Place, s Spec, index int, all []*attached) error {
	front, rest := s.apart()
	now := presentAt(all, s.Hook)
	if waits, err := k.ahead(p, s, index, now); waits || err != nil {
		return err
	}
	asFront, asRest := before{old: now.front}, before{old: now.rest}
	if len(k.late.former) > 0 {
		asFront.beside, asRest.beside = now.rest, now.front
	}
	kept := map[*attached]bool{}
	for _, wanted := range []*Spec{front, rest} {
		if wanted == nil {
			continue
		}
		to, err := indexes(p, wanted.ports())
		if err == nil && wanted == front {
			kept[now.front] = true
			err = k.keepPaths(p, *front, fronts[s.Hook], index, to, asFront)
		} else if err == nil {
			kept[now.rest] = true
			err = k.keep(p, *rest, index, to, asRest)
		}
		if err != nil {
			return err
		}
	}
	for _, a := range slices.Backward(all) {
		if kept[a] || k.late.keeps(s, a) {
			continue
		}
		if err := a.at().take(p, index, a.Program.Program); err != nil {
			return err
		}
	}
	return nil
}

// keep a program of this version, or put one in the place of what is there.
func (k Kind) keep(p resource.Place, s Spec, index int, to []uint32, was before) error {
	old := was.old
	switch {
	case s.Paths != nil:
		return k.keepPaths(p, s, hooks[s.Hook], index, to, was)
	case s.Branch != nil:
		return k.keepBranch(p, s, index, to, old)
	case s.Among != nil:
		return k.keepAmong(p, s, index, to, old)
	case len(k.older) > 0:
		return k.keepOlder(p, s, index, to[0], old)
	}
	switch {
	case old != nil && old.Name == Name:
		return k.detours.lead(s.Device, old, to[0])
	case old != nil && old.keeps() && k.aside:
		return nil
	}
	loaded, err := load(to[0], old, k.detours.past(s.Device, to[0]))
	if err != nil {
		return err
	}
	defer func() { _ = loaded.Close() }()
	return hooks[s.Hook].put(p, index, loaded.Steer, old.program())
}

package pass

import (
	"errors"
	"fmt"
	"maps"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/pass/fold"
	"nfchain.dev/nfchain/internal/resource/pass/rules"
)

// furnishing is the making of a pass.
type furnishing struct {
	Spec
	steps  []Step
	spec   *ebpf.CollectionSpec
	kept   map[string]*ebpf.Map
	others []knowing
}

// furnished has a program loaded with a spec's steps. Of others it takes over the connections of the same
// firewalls and NATs; their counters, if these have the same rules; and the tables of these.
func (s Spec) furnished(spec *ebpf.CollectionSpec, called string, taps numbers, kept map[string]*ebpf.Map, others []knowing) (*Loaded, error) {
	f := furnishing{Spec: s, steps: s.named(), spec: spec, kept: map[string]*ebpf.Map{}, others: others}
	maps.Copy(f.kept, kept)
	if asksRules(s.Steps) {
		f.connections()
		if err := f.rules(); err != nil {
			return nil, err
		}
	}
	if translates(s.Steps) {
		f.translations()
	}
	if err := errors.Join(prepare(spec, f.steps, s.Flows), taps.wired(spec, s)); err != nil {
		return nil, err
	}
	spec.Programs[passProgram].Name = called
	l, err := f.load()
	if err != nil {
		return nil, fmt.Errorf("load a pass of %d steps: %w", len(s.Steps), err)
	}
	l.counters = f.counted()
	if asksRules(s.Steps) {
		if err := f.inherit(l.maps[rulesFlowsMap]); err != nil {
			_ = l.Close()
			return nil, err
		}
	}
	return l, nil
}

// passProgram is what the C calls the program.
const passProgram = "pass"

// load what its constants leave of the program. It holds all of its maps, whether it looks at them or not.
func (f *furnishing) load() (*Loaded, error) {
	whole := f.spec.Programs[passProgram]
	constants, is := f.spec.Maps[constantsMap].Contents[0].Value.([]byte)
	if !is {
		return nil, errors.New("the program has no constants")
	}
	left, err := fold.Program(whole.Instructions, constants)
	if err != nil {
		return nil, err
	}
	whole.Instructions, f.spec.Variables = left, nil // which are constants now, and would be mapped into memory
	loaded, err := ebpf.NewCollectionWithOptions(f.spec, ebpf.CollectionOptions{MapReplacements: f.kept})
	if err != nil {
		return nil, err
	}
	l := &Loaded{Program: loaded.Programs[passProgram], maps: loaded.Maps, steps: f.steps}
	looked := map[string]bool{}
	for _, in := range left {
		if in.IsLoadFromMap() {
			looked[in.Reference()] = true
		}
	}
	for name, m := range l.maps {
		if looked[name] {
			continue
		}
		if err := l.Program.BindMap(m); err != nil {
			_ = l.Close()
			return nil, fmt.Errorf("have it hold map %s: %w", name, err)
		}
	}
	return l, nil
}

// connections are those of a pass that has room for as many, if one follows the same; so are first fragments, those behind which go as these do.
func (f *furnishing) connections() {
	f.spec.Maps[rulesPartsMap].MaxEntries = rulesParts()
	for _, k := range f.others {
		if k.follows(f.steps) && f.takes(k, rulesPartsMap) {
			break
		}
	}
	f.spec.Maps[rulesFlowsMap].MaxEntries = f.Connections
	for _, k := range f.others {
		if k.follows(f.steps) && f.takes(k, rulesFlowsMap, rulesTalliesMap) {
			return
		}
	}
}

// rulesParts is how many packets are known at once of which fragments come. The kernel lets each core have 128 entries of such a table at hand, which it takes from
// those in use where there are no others.
func rulesParts() uint32 {
	const least, atHand = 256, 128
	cores, err := ebpf.PossibleCPU()
	if err != nil {
		return least
	}
	return uint32(max(least, atHand*(cores+1)))
}

// rules are those of a pass that has the same, or are compiled. Their counters go on where they are the same.
func (f *furnishing) rules() error {
	if of, found := inOne(f.others, f.steps, knowing.exact); of.maps != nil && of.areas().Has() {
		f.shares(of, rulesMemoryMap, rulesCurrentMap, rulesAskedMap, rulesCountedMap)
		f.ask(func(number int) asked { return found[number].asked() })
		return f.spec.Variables["rules_last"].Set(of.maps[rulesMemoryMap].ValueSize() - held.Behind)
	}
	made, err := f.compiled()
	if err != nil {
		return err
	}
	cores, err := ebpf.PossibleCPU()
	if err != nil {
		return err
	}
	memory, at := rules.Join(made...)
	areas, room, counted := areasFor(len(memory)-held.Behind, f.counted(), cores*int(f.spec.Maps[rulesCountedMap].ValueSize))
	held.LayOut(f.spec.Maps[rulesMemoryMap], f.spec.Maps[rulesCurrentMap], areas, room)
	memory = append(memory, make([]byte, areas*room+held.Behind-len(memory))...)
	first := f.firsts()
	if of, found := inOne(f.others, f.steps, knowing.same); of.maps != nil {
		f.shares(of, rulesCountedMap)
		first = func(number int) uint32 { return found[number].first() }
	} else {
		f.spec.Maps[rulesCountedMap].MaxEntries = uint32(areas) * counted
	}
	f.ask(func(number int) asked { return asked{at[number], first(number), 0} })
	f.spec.Maps[rulesAskedMap].MaxEntries = uint32(areas) * Most
	for _, s := range f.steps {
		if s.Act == Rules {
			f.spec.Maps[rulesAskedMap].Contents = append(f.spec.Maps[rulesAskedMap].Contents, ebpf.MapKV{Key: s.Slot, Value: s.asked()})
		}
	}
	return Tables{Memory: memory, Connections: f.Connections}.Prepare(f.spec)
}

// shares maps with another pass.
func (f *furnishing) shares(of knowing, names ...string) {
	for _, name := range names {
		m := of.maps[name]
		spec := f.spec.Maps[name]
		spec.ValueSize, spec.MaxEntries, spec.Flags = m.ValueSize(), m.MaxEntries(), m.Flags()
		f.kept[name] = m
	}
}

// firewall of a step.
func (f *furnishing) firewall(s Step) (of Firewall) {
	for _, of = range f.Firewalls {
		if of.Slot == s.Slot {
			break
		}
	}
	return of
}

// counted by all rules is in so many counters.
func (f *furnishing) counted() (all uint32) {
	for _, s := range f.steps {
		if s.Act == Rules {
			all += f.firewall(s).counters()
		}
	}
	return all
}

// firsts are the first counters of firewalls, by their numbers, where all are one behind the other.
func (f *furnishing) firsts() func(number int) uint32 {
	var all []uint32
	next := uint32(0)
	for _, s := range f.steps {
		if s.Act == Rules {
			all = append(all, next)
			next += f.firewall(s).counters()
		}
	}
	return func(number int) uint32 { return all[number] }
}

// ask gives each firewall, by its number, where its rules are. What they say is the spec's.
func (f *furnishing) ask(rules func(number int) asked) {
	number := 0
	for i, s := range f.steps {
		if s.Act == Rules {
			a := rules(number)
			f.steps[i] = s.placed(a.Base, a.First)
			number++
		}
	}
}

// compiled are the tables of all firewalls, in the order of the steps, as long as the kernel can have them.
func (f *furnishing) compiled() (made []*rules.Table, err error) {
	room := mostMemory - held.Behind
	for _, s := range f.steps {
		if s.Act != Rules {
			continue
		}
		t, err := f.firewall(s).table(room)
		if err != nil {
			return nil, err
		}
		room -= t.Size()
		made = append(made, t)
	}
	return made, nil
}

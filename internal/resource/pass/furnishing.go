package pass

import (
	"errors"
	"fmt"
	"maps"

	"github.com/cilium/ebpf"

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
		f.counters()
		if err := f.tables(); err != nil {
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

// connections are those of a pass that has room for as many, if one follows the same.
func (f *furnishing) connections() {
	flows := f.spec.Maps[rulesFlowsMap]
	flows.MaxEntries = f.Connections
	for _, k := range f.others {
		if k.follows(f.steps) && flows.Compatible(k.maps[rulesFlowsMap]) == nil {
			f.kept[rulesFlowsMap], f.kept[rulesTalliesMap] = k.maps[rulesFlowsMap], k.maps[rulesTalliesMap]
			return
		}
	}
}

// counters of rules go on where they are the same.
func (f *furnishing) counters() {
	next := uint32(0)
	of, found := inOne(f.others, f.steps, knowing.same)
	for i, s := range f.steps {
		switch {
		case s.Act != Rules:
		case of.maps != nil:
			f.steps[i], found = s.placed(0, found[0].first()), found[1:]
		default:
			f.steps[i] = s.placed(0, next)
			next += f.firewall(s).counters()
		}
	}
	f.spec.Maps[rulesCountedMap].MaxEntries = next
	if of.maps != nil {
		f.spec.Maps[rulesCountedMap].MaxEntries = of.maps[rulesCountedMap].MaxEntries()
		f.kept[rulesCountedMap] = of.maps[rulesCountedMap]
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

// tables of the rules are those of a pass that has them, or made.
func (f *furnishing) tables() error {
	if of, found := inOne(f.others, f.steps, knowing.exact); of.maps != nil {
		memory := of.maps[rulesMemoryMap]
		f.kept[rulesMemoryMap] = memory
		f.at(func(number int) uint32 { return found[number].base() })
		return sized(f.spec, int(memory.ValueSize()))
	}
	made, err := f.compiled()
	if err != nil {
		return err
	}
	memory, at := rules.Join(made...)
	f.at(func(number int) uint32 { return at[number] })
	return Tables{Memory: memory, Connections: f.Connections}.Prepare(f.spec)
}

// at gives each firewall the place of its table, by its number.
func (f *furnishing) at(place func(number int) uint32) {
	number := 0
	for i, s := range f.steps {
		if s.Act == Rules {
			f.steps[i] = s.placed(place(number), s.first())
			number++
		}
	}
}

// compiled are the tables of all firewalls, in the order of the steps, as long as the kernel can have them.
func (f *furnishing) compiled() (made []*rules.Table, err error) {
	room := mostMemory - behind
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

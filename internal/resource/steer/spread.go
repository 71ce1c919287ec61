package steer

import (
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/spread"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// The maps of the program that chooses among replicas. Its table of flows is called flows
// where it is loaded, and in the kernel by a name that says whose flows they are.
const (
	replicasMap = "replicas"
	sharesMap   = "shares"
	failingMap  = "failing"
	flowsMap    = "flows"
	dealtMap    = "dealt"
)

// table of flows that a program has, and what it is called; nil where it has none.
func (a *attached) table() (*ebpf.Map, string) {
	for name, m := range a.Maps {
		if strings.HasPrefix(name, tablePrefix) {
			return m, name
		}
	}
	return nil, ""
}

// knows tells whether a program is this version's and has the table of a function's flows.
func (a *attached) knows(of string, flows uint32) bool {
	m := a.Maps[table(of)]
	return a.Name == SpreadName && m != nil && m.MaxEntries() == flows
}

// among are the replicas that a program sends packets to, in words.
func (a *attached) among(p resource.Place) (string, error) {
	flows, name := a.table()
	if flows == nil || a.Maps[replicasMap] == nil || a.Maps[sharesMap] == nil {
		return "", fmt.Errorf("program %s lacks maps", a.Name)
	}
	indexes, err := a.indexes()
	if err != nil {
		return "", err
	}
	ports := map[int]string{}
	for n, index := range indexes {
		ports[n] = called(p, int(index))
	}
	shares, err := a.shares()
	return amongText(ports, shares, name, flows.MaxEntries()), err
}

// indexes of ports by the numbers that flows are with.
func (a *attached) indexes() (map[int]uint32, error) {
	all := map[int]uint32{}
	err := eachOf(a.Maps[replicasMap], func(n, index uint32) {
		if index != 0 {
			all[int(n)] = index
		}
	})
	return all, err
}

// shares are the numbers that new flows get.
func (a *attached) shares() (shares [buckets]byte, err error) {
	err = a.Maps[sharesMap].Lookup(asPlanned, &shares)
	return shares, err
}

// dealing are the maps of a program that say which replica packets go to.
type dealing struct{ next, replicas, shares, failing *ebpf.Map }

func (a *attached) dealing() dealing {
	return dealing{a.Maps[nextMap], a.Maps[replicasMap], a.Maps[sharesMap], a.Maps[failingMap]}
}

// deal packets out as a spec says, whose ports are of these indexes. New replicas are known
// before flows come to them. Those that are no longer wanted keep their flows where they stay; else, and if that is
// nil, these move at their next packets.
func (d dealing) deal(s Spec, indexes []uint32, stays func(index uint32) bool) error {
	next := uint32(Replicas)
	if s.To != "" {
		next, indexes = indexes[0], indexes[1:]
	}
	wanted := map[int]bool{}
	for i, r := range s.Among.Replicas {
		wanted[r.Number] = true
		if err := d.replicas.Put(uint32(r.Number), indexes[i]); err != nil {
			return err
		}
	}
	if err := d.share(s.Among.Replicas); err != nil {
		return err
	}
	for n := 1; n <= Most; n++ {
		if wanted[n] {
			continue
		}
		var index uint32
		if err := d.replicas.Lookup(uint32(n), &index); err != nil {
			return err
		}
		if index == 0 || stays != nil && stays(index) {
			continue
		}
		if err := d.replicas.Put(uint32(n), uint32(0)); err != nil {
			return err
		}
	}
	return d.next.Put(uint32(0), next)
}

// share new flows out over replicas, and while some fail over the others.
func (d dealing) share(replicas []Replica) error {
	failing, err := d.fail()
	if err != nil {
		return err
	}
	all, others := sharesOf(replicas), sharesOf(failing.others(replicas))
	return errors.Join(d.shares.Put(asPlanned, all[:]), d.shares.Put(whileFailing, others[:]))
}

// leaving tells of ports whether the replicas behind them may be left the flows that they have: not if they have
// gone.
func leaving(p resource.Place, leave bool) (stays func(index uint32) bool, err error) {
	if !leave {
		return nil, nil
	}
	there, err := numbers(p)
	return func(index uint32) bool { return there[index] }, err
}

// keepAmong keeps a program that knows the flows, or puts one in the place of what is there.
func keepAmong(p resource.Place, s Spec, index int, to []uint32, old *attached, leave bool) error {
	stays, err := leaving(p, leave)
	if err != nil {
		return err
	}
	if old != nil && old.knows(s.Among.Of, s.Among.Flows) {
		return old.dealing().deal(s, to, stays)
	}
	loaded, err := loadSpread(p, s.Among.Of, s.Among.Flows, old)
	if err != nil {
		return err
	}
	defer func() { _ = loaded.Close() }()
	if err := (dealing{loaded.Next, loaded.Replicas, loaded.Shares, loaded.Failing}).deal(s, to, stays); err != nil {
		return err
	}
	return hooks[s.Hook].put(p, index, loaded.Spread, old.program())
}

// loadSpread loads this version's program that chooses among replicas. It counts on where
// another stopped, and knows the flows that other ports know.
func loadSpread(p resource.Place, of string, many uint32, old *attached) (*spread.ProgramObjects, error) {
	spec, err := spreadObject()
	if err != nil {
		return nil, err
	}
	spec.Programs["spread"].Name = SpreadName
	flows := spec.Maps[flowsMap]
	flows.Name, flows.MaxEntries = table(of), many
	o := ebpf.CollectionOptions{MapReplacements: counting(spec, old)}
	if old != nil && old.lists(flows) {
		maps.Copy(o.MapReplacements, dealt(spec, old))
	}
	others, err := portsThat(p, func(a *attached) bool { return a.has(flows.Name, flows) })
	defer held.CloseAll(others)
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		o.MapReplacements[flowsMap] = others[0].Maps[flows.Name]
	} else {
		table, err := takeOver[spread.ProgramFlow, spread.ProgramStay](p, flows)
		if err != nil {
			return nil, err
		}
		defer func() { _ = table.Close() }()
		o.MapReplacements[flowsMap] = table
	}
	loaded := &spread.ProgramObjects{}
	if err := spec.LoadAndAssign(loaded, &o); err != nil {
		return nil, fmt.Errorf("load the program that chooses among replicas: %w", err)
	}
	return loaded, nil
}

// dealt are the maps by which a program of another version, or with room for more flows, deals the same ones out, all or none: where
// one alone went on, replicas would be taken out of it that shares still lead to.
func dealt(spec *ebpf.CollectionSpec, old *attached) map[string]*ebpf.Map {
	taken := map[string]*ebpf.Map{}
	for _, name := range []string{replicasMap, sharesMap, dealtMap} {
		if !old.has(name, spec.Maps[name]) {
			return nil
		}
		taken[name] = old.Maps[name]
	}
	return taken
}

// portsThat have a program of which something is so.
func portsThat(p resource.Place, is func(*attached) bool) (known []*attached, err error) {
	return portsNamed(p, func(name string) bool { return strings.HasPrefix(name, Mark) }, is)
}

// portsNamed is portsThat of programs with names of some kind.
func portsNamed(p resource.Place, named func(string) bool, is func(*attached) bool) (known []*attached, err error) {
	mine, err := p.Mine()
	if err != nil {
		return nil, err
	}
	for index, port := range mine {
		all, err := findNamed(p, index, named)
		for _, a := range all {
			if err == nil && is(a) {
				a.port = port
				known = append(known, a)
				continue
			}
			a.Close()
		}
		if err != nil {
			return known, err
		}
	}
	return known, nil
}

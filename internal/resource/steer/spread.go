package steer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/spread"
	"nfchain.dev/nfchain/internal/resource"
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
	return (a.Name == SpreadName || a.Name == PathsName || a.Name == BranchName) && m != nil && m.MaxEntries() == flows
}

// among are the replicas that a program sends packets to, in words.
func (a *attached) among(p resource.Place) (string, error) {
	_, name := a.table()
	if name == "" || a.Maps[replicasMap] == nil || a.Maps[sharesMap] == nil {
		return "", fmt.Errorf("program %s lacks maps", a.Name)
	}
	return a.dealtText(p, a.dealing(), name)
}

// dealtText is it of those at a seat, with the table of that name.
func (a *attached) dealtText(p resource.Place, d dealing, table string) (string, error) {
	indexes, err := d.indexes()
	if err != nil {
		return "", err
	}
	ports := map[int]string{}
	for n, index := range indexes {
		ports[n] = called(p, int(index))
	}
	var shares [buckets]byte
	err = d.shares.Lookup(d.when(asPlanned), &shares)
	return amongText(ports, shares, table, a.Maps[table].MaxEntries()), err
}

// dealing are the maps of a program that say which replica packets go to, and the seat of a function there.
type dealing struct {
	next, replicas, shares, failing, dealt *ebpf.Map
	seat                                   uint32
}

func (a *attached) dealing() dealing {
	return dealing{a.Maps[nextMap], a.Maps[replicasMap], a.Maps[sharesMap], a.Maps[failingMap], a.Maps[dealtMap], 0}
}

// number of a replica at the seat, and the shares there: as they are planned, and while some fail.
func (d dealing) number(replica int) uint32 { return d.seat*(Most+1) + uint32(replica) }
func (d dealing) when(shares uint32) uint32 { return d.seat*2 + shares }

// indexes of ports by the numbers that flows are with.
func (d dealing) indexes() (map[int]uint32, error) {
	all := map[int]uint32{}
	err := eachOf(d.replicas, func(n, index uint32) {
		if index != 0 && n > d.number(0) && n <= d.number(Most) {
			all[int(n-d.number(0))] = index
		}
	})
	return all, err
}

// deal packets out over replicas, whose ports are of these indexes. New replicas are known
// before flows come to them. Those that are no longer wanted keep their flows where they stay; else, and if that is
// nil, these move at their next packets.
func (d dealing) deal(all []Replica, indexes []uint32) error {
	wanted := map[int]bool{}
	for i, r := range all {
		wanted[r.Number] = true
		if err := d.replicas.Put(d.number(r.Number), indexes[i]); err != nil {
			return err
		}
	}
	if err := d.share(all); err != nil {
		return err
	}
	for n := 1; n <= Most; n++ {
		if wanted[n] {
			continue
		}
		var index uint32
		if err := d.replicas.Lookup(d.number(n), &index); err != nil {
			return err
		}
		if index == 0 {
			continue
		}
		if err := d.replicas.Put(d.number(n), uint32(0)); err != nil {
			return err
		}
	}
	return nil
}

// lead packets past a function to replicas, or to these at once, as a spec says whose ports are of these indexes.
func (d dealing) lead(s Spec, indexes []uint32) error {
	next := uint32(Replicas)
	if s.To != "" {
		next, indexes = indexes[0], indexes[1:]
	}
	if err := d.deal(s.Among.Replicas, indexes); err != nil {
		return err
	}
	return d.next.Put(uint32(0), next)
}

// follow what is so at another program's seat, and count on from there.
func (d dealing) follow(old dealing) error {
	err := d.dealAs(old)
	var each []spread.ProgramDealt
	if old.dealt == nil || old.dealt.Lookup(old.seat, &each) != nil {
		return err // another version's, which counts otherwise
	}
	return errors.Join(err, d.dealt.Put(d.seat, each))
}

// dealAs is done at another program's seat.
func (d dealing) dealAs(old dealing) error {
	indexes, err := old.indexes()
	for n, index := range indexes {
		err = errors.Join(err, d.replicas.Put(d.number(n), index))
	}
	var shares [buckets]byte
	for _, when := range []uint32{asPlanned, whileFailing} {
		err = errors.Join(err, old.shares.Lookup(old.when(when), &shares), d.shares.Put(d.when(when), shares[:]))
	}
	failing, wrong := old.fail()
	return errors.Join(err, wrong, d.failing.Put(d.seat, uint64(failing)))
}

// clear the seat of what was so for another function.
func (d dealing) clear() (err error) {
	for n := range Most + 1 {
		err = errors.Join(err, d.replicas.Put(d.number(n), uint32(0)))
	}
	err = errors.Join(err, d.failing.Put(d.seat, uint64(0)))
	if d.dealt == nil || d.dealt.Type() != ebpf.PerCPUArray || int(d.dealt.ValueSize()) != binary.Size(spread.ProgramDealt{}) {
		return err // another version's, which counts otherwise
	}
	cores, wrong := ebpf.PossibleCPU()
	if wrong != nil {
		return errors.Join(err, wrong)
	}
	return errors.Join(err, d.dealt.Put(d.seat, make([]spread.ProgramDealt, cores)))
}

// note, where no replica has a number, whether only older paths lead to the seat.
func (d dealing) note(older bool) error {
	var n uint32
	if older {
		n = 1
	}
	return d.replicas.Put(d.number(0), n)
}

func (d dealing) noted() (older bool, err error) {
	var n uint32
	err = d.replicas.Lookup(d.number(0), &n)
	return n != 0, err
}

// share new flows out over replicas, and while some fail over the others.
func (d dealing) share(replicas []Replica) error {
	failing, err := d.fail()
	if err != nil {
		return err
	}
	all, others := sharesOf(replicas), sharesOf(failing.others(replicas))
	return errors.Join(d.shares.Put(d.when(asPlanned), all[:]), d.shares.Put(d.when(whileFailing), others[:]))
}

// keepAmong keeps a program that knows the flows, or puts one in the place of what is there.
func (k Kind) keepAmong(p resource.Place, s Spec, index int, to []uint32, old *attached) error {
	if old != nil && old.Name == SpreadName && old.knows(s.Among.Of, s.Among.Flows) {
		return old.dealing().lead(s, to)
	}
	loaded, err := loadSpread(p, table(s.Among.Of), s.Among.Flows, old)
	if err != nil {
		return err
	}
	defer func() { _ = loaded.Close() }()
	d := dealing{loaded.Next, loaded.Replicas, loaded.Shares, loaded.Failing, loaded.Dealt, 0}
	if err := errors.Join(d.followPath(old, table(s.Among.Of)), d.lead(s, to)); err != nil {
		return err
	}
	if err := k.detours.followWays(s.Device, old, loaded.Instead, d); err != nil {
		return err
	}
	return hooks[s.Hook].put(p, index, loaded.Spread, old.program())
}

// loadSpread loads this version's program that chooses among replicas. It counts on where
// another stopped, and knows the flows of a table that other ports know, and the replicas that fail.
func loadSpread(p resource.Place, name string, many uint32, old *attached) (*spread.ProgramObjects, error) {
	spec, err := spreadObject()
	if err != nil {
		return nil, err
	}
	spec.Programs["spread"].Name = SpreadName
	flows := spec.Maps[flowsMap]
	flows.Name, flows.MaxEntries = name, many
	o := ebpf.CollectionOptions{MapReplacements: counting(spec, old)}
	if old != nil && old.Maps[nodesMap] != nil {
		delete(o.MapReplacements, insteadMap) // which says there that nodes are looked at
	}
	if old != nil && (old.Maps[tablesMap] != nil || !old.hasTable(name)) {
		delete(o.MapReplacements, failingMap) // of whichever function has the seat there
	} else if old != nil && old.lists(flows) {
		maps.Copy(o.MapReplacements, dealt(spec, old))
	}
	table, failing, err := tableOf(p, name, many)
	if err != nil {
		return nil, err
	}
	defer func() { _ = table.Close() }()
	o.MapReplacements[flowsMap] = table
	loaded := &spread.ProgramObjects{}
	if err := spec.LoadAndAssign(loaded, &o); err != nil {
		return nil, fmt.Errorf("load the program that chooses among replicas: %w", err)
	}
	if o.MapReplacements[failingMap] == nil {
		if err := loaded.Failing.Put(uint32(0), uint64(failing)); err != nil {
			_ = loaded.Close()
			return nil, err
		}
	}
	return loaded, nil
}

// followPath follows what was so for the replicas of a table where packets went on by paths.
func (d dealing) followPath(old *attached, name string) error {
	if old == nil || old.Maps[tablesMap] == nil || !old.seated() {
		return nil
	}
	seat, has := old.taken[name]
	if !has {
		return nil
	}
	return d.follow(old.seats().at(seat))
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

// everywhere is portsThat of programs that stand before others, too, and of these first.
func everywhere(p resource.Place, is func(*attached) bool) ([]*attached, error) {
	return portsBy(p, findAll, is)
}

// portsNamed is portsThat of programs with names of some kind.
func portsNamed(p resource.Place, named func(string) bool, is func(*attached) bool) (known []*attached, err error) {
	return portsBy(p, func(p resource.Place, index int) ([]*attached, error) { return findNamed(p, index, named) }, is)
}

func portsBy(p resource.Place, find finding, is func(*attached) bool) (known []*attached, err error) {
	mine, err := p.Mine()
	if err != nil {
		return nil, err
	}
	for index, port := range mine {
		all, err := find(p, index)
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

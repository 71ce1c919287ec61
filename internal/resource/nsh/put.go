package nsh

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	bpf "nfchain.dev/nfchain/bpf/nsh"
	"nfchain.dev/nfchain/internal/resource/held"
)

// most paths that ports have numbers of, and none.
const most = 256

// headers by the numbers of paths, as far as a program has any.
func headers(m *ebpf.Map) ([]bpf.ProgramHeader, error) {
	all := make([]bpf.ProgramHeader, min(m.MaxEntries(), most))
	if len(all) == 0 {
		return nil, nil
	}
	for i := range all {
		if err := m.Lookup(uint32(i), &all[i]); err != nil {
			return nil, err
		}
		if all[0].Tagged == 0 {
			return all[:1], nil // there never was another path
		}
	}
	return all, nil
}

// current are the paths that frames come by now.
func current(all []bpf.ProgramHeader) (on []OnPath) {
	for i, h := range all {
		if i > 0 && h.Length > 0 && h.Older == 0 {
			on = append(on, OnPath{Number: i, Hop: hopOf(h)})
		}
	}
	return on
}

// put headers into a program that is there, or into one to be attached. Those of paths that frames come by
// no more stay, because of the ones that are on their way.
func (s Push) put(old *held.Program) (*ebpf.Program, error) {
	var before []bpf.ProgramHeader
	if old != nil && old.Maps[headerMap] != nil {
		before, _ = headers(old.Maps[headerMap]) // of another version they may not be such
	}
	wanted, err := s.headers(before)
	if err != nil {
		return nil, err
	}
	if old != nil && old.Name == name && old.Maps[headerMap] != nil {
		return nil, write(old.Maps[headerMap], wanted)
	}
	var objects struct {
		Push   *ebpf.Program `ebpf:"push"`
		Header *ebpf.Map     `ebpf:"header"`
	}
	if err := load(&objects, old, dealtMap); err != nil {
		return nil, err
	}
	defer func() { _ = objects.Header.Close() }()
	return objects.Push, write(objects.Header, wanted)
}

// headers that are wanted, by the numbers of paths, where there were some before.
func (s Push) headers(before []bpf.ProgramHeader) (map[uint32]bpf.ProgramHeader, error) {
	all := map[uint32]bpf.ProgramHeader{}
	for i, h := range before {
		if i > 0 && h.Length > 0 {
			h.Older = 1
			all[uint32(i)] = h
		}
	}
	for _, on := range s.On {
		h, err := s.header(on.Hop)
		if err != nil {
			return nil, err
		}
		all[uint32(on.Number)] = h
	}
	first, err := s.header(s.Hop)
	// What has a tag may be on its way yet, or come by a port that is not turned yet: taken for a plain frame it would end at the function, with
	// a tag of ours in it. So tags are looked for until [Untag], though there is one path alone again: what that takes from users' packets
	// meanwhile is a tag of the priority, drop eligibility and VLAN that ours has.
	if len(s.On) > 0 || len(before) > 0 && before[0].Tagged != 0 {
		first.Tagged = 1
	}
	all[0] = first
	return all, err
}

// write headers, that of no path last: until then tags are not looked for.
func write(m *ebpf.Map, all map[uint32]bpf.ProgramHeader) (err error) {
	for number, h := range all {
		if number != 0 {
			err = errors.Join(err, m.Put(number, h))
		}
	}
	return errors.Join(err, m.Put(uint32(0), all[0]))
}

// put what must come in into a program that is there, or into one to be attached. What was to come
// before may still: a function may have frames from then.
func (s Pop) put(old *held.Program) (*ebpf.Program, error) {
	if old != nil && old.Name == name && old.Maps[pathsMap] != nil {
		return nil, s.turn(old.Maps[pathsMap])
	}
	var objects struct {
		Pop   *ebpf.Program `ebpf:"pop"`
		Paths *ebpf.Map     `ebpf:"paths"`
	}
	if err := load(&objects, old, dealtMap, pathsMap); err != nil {
		return nil, err
	}
	defer func() { _ = objects.Paths.Close() }()
	return objects.Pop, s.turn(objects.Paths)
}

// ways that a program takes frames of, by their service paths.
func ways(m *ebpf.Map) (map[uint32]bpf.ProgramPath, error) {
	all := map[uint32]bpf.ProgramPath{}
	var number uint32
	var way bpf.ProgramPath
	entries := m.Iterate()
	for entries.Next(&number, &way) {
		all[number] = way
	}
	return all, entries.Err()
}

// given are the ways on which frames are given an index now.
func given(all map[uint32]bpf.ProgramPath) (on []OnPath) {
	for path, w := range all {
		if w.Older == 0 {
			on = append(on, OnPath{Number: int(w.Number), Hop: Hop{Path: path, Index: uint8(w.Index)}})
		}
	}
	return on
}

// turn a program to frames of these hops, beside those that the function may have yet. Without room for all, those that it
// may have are forgotten.
func (s Pop) turn(m *ebpf.Map) error {
	all, err := ways(m)
	if err != nil {
		return err
	}
	wanted, hops := map[uint32]bool{}, s.hops()
	for _, h := range hops {
		wanted[h.Path] = true
		way := all[h.Path]
		way.Number, way.Index, way.Older = uint32(h.Number), uint32(h.Index), 0
		way.Given[h.Index/64] |= 1 << (h.Index % 64)
		all[h.Path] = way
	}
	full := len(all) > int(m.MaxEntries())
	for path, way := range all {
		switch {
		case wanted[path]:
			continue
		case full:
			err = m.Delete(path)
		case way.Older == 0:
			way.Older = 1
			err = m.Put(path, way)
		}
		if err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
			return fmt.Errorf("age service path %d: %w", path, err)
		}
	}
	for path := range wanted {
		if err := m.Put(path, all[path]); err != nil {
			return fmt.Errorf("take frames of service path %d: %w", path, err)
		}
	}
	return nil
}

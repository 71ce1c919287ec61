package nsh

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"

	bpf "nfchain.dev/nfchain/bpf/nsh"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// The maps of the programs, by the names that the kernel knows them by.
const (
	headerMap = "header"
	pathsMap  = "paths"
	dealtMap  = "dealt"
)

// PushKind has interfaces put headers on.
type PushKind struct{}

// Name implements resource.Kind.
func (PushKind) Name() string { return PushKindName }

// Read implements resource.Kind.
func (PushKind) Read(p resource.Place) ([]resource.Observed, error) { return read(p, headerMap) }

// Apply implements resource.Kind.
func (PushKind) Apply(p resource.Place, changes []resource.Change) error {
	return resource.Make(changes,
		func(device string) error { return remove(p, device) },
		func(s Push) error { return failed(p, s.Device, set(p, s.Device, s.put)) })
}

// PopKind has ports take headers off.
type PopKind struct{}

// Name implements resource.Kind.
func (PopKind) Name() string { return PopKindName }

// Read implements resource.Kind.
func (PopKind) Read(p resource.Place) ([]resource.Observed, error) { return read(p, pathsMap) }

// Apply implements resource.Kind.
func (PopKind) Apply(p resource.Place, changes []resource.Change) error {
	return resource.Make(changes,
		func(device string) error { return remove(p, device) },
		func(s Pop) error { return failed(p, s.Device, set(p, s.Device, s.put)) })
}

func failed(p resource.Place, device string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("network service headers at %s of namespace %q: %w", device, p.Ref, err)
}

// read the programs of one kind, which is told by a map that it has.
func read(p resource.Place, kind string) (found []resource.Observed, err error) {
	mine, err := p.Mine()
	if err != nil {
		return nil, err
	}
	for _, device := range mine {
		dev, err := p.Device(device)
		if err != nil {
			return nil, err
		}
		there, err := at(dev)
		if err != nil {
			return found, failed(p, device, err)
		}
		if there == nil {
			continue
		}
		if there.Maps[kind] != nil {
			found = append(found, resource.Observed{Key: device, Fingerprint: observe(there)})
		}
		there.Close()
	}
	return found, nil
}

// at an interface, the program of nfchain's that is there; nil for none, or another's.
func at(dev netlink.Link) (*held.Program, error) {
	xdp := dev.Attrs().Xdp
	if xdp == nil || !xdp.Attached {
		return nil, nil
	}
	return held.Open(ebpf.ProgramID(xdp.ProgId), mark)
}

// observe what a program does, in words.
func observe(p *held.Program) string {
	if m := p.Maps[headerMap]; m != nil {
		if all, err := headers(m); err == nil && len(all) > 0 {
			return described(all[0], current(all), p.Name)
		}
	}
	if m := p.Maps[pathsMap]; m != nil {
		if all, err := ways(m); err == nil {
			return popText(given(all), p.Name)
		}
	}
	return p.Name + ", whose maps are of another version"
}

// remove what is at an interface, unless that has gone.
func remove(p resource.Place, device string) error {
	dev, err := p.LinkByName(device)
	if err != nil {
		return nil
	}
	there, err := at(dev)
	if err != nil || there == nil {
		return failed(p, device, err)
	}
	defer there.Close()
	return failed(p, device, attach(p, dev, -1))
}

// nativeMode is XDP_FLAGS_DRV_MODE: before a frame is the kernel's, so that it is taken for what
// it has become.
const nativeMode = 1 << 2

// set the program at an interface. It is asked for anew what is there: links are made after a
// place was first listed.
func set(p resource.Place, device string, put func(old *held.Program) (*ebpf.Program, error)) error {
	dev, err := p.LinkByName(device)
	if err != nil {
		return err
	}
	old, err := at(dev)
	if err != nil {
		return err
	}
	if old == nil && dev.Attrs().Xdp != nil && dev.Attrs().Xdp.Attached {
		return fmt.Errorf("program %d of somebody else's is at XDP there; take it away, or leave encapsulation out", dev.Attrs().Xdp.ProgId)
	}
	if old != nil {
		defer old.Close()
	}
	program, err := put(old)
	if err != nil || program == nil {
		return err
	}
	defer func() { _ = program.Close() }()
	return attach(p, dev, program.FD())
}

// attach a program, or take away what is there, by a descriptor of -1.
func attach(p resource.Place, dev netlink.Link, program int) error {
	return p.Do(func() error { return netlink.LinkSetXdpFdWithFlags(dev, program, nativeMode) })
}

// object that this version's programs are loaded from.
var object = held.Once(bpf.LoadProgram)

// load this version's program with the maps of another in whose place it comes.
func load(objects any, old *held.Program, kept ...string) error {
	spec, err := object()
	if err != nil {
		return err
	}
	for _, p := range spec.Programs {
		p.Name = name
	}
	o := ebpf.CollectionOptions{MapReplacements: map[string]*ebpf.Map{}}
	for _, m := range kept {
		if old != nil && old.Maps[m] != nil && spec.Maps[m].Compatible(old.Maps[m]) == nil {
			o.MapReplacements[m] = old.Maps[m]
		}
	}
	if err := spec.LoadAndAssign(objects, &o); err != nil {
		return fmt.Errorf("load the program: %w", err)
	}
	return nil
}

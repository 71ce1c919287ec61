package held

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// clsact holds programs as filters of tc(8) that decide by themselves, one of each rank, at its parent
// for what an interface takes in or that for what it sends.
type clsact struct{ parent uint32 }

func (c clsact) Programs(p resource.Place, index int, r Rank) (ids []ebpf.ProgramID, err error) {
	found, err := c.filters(p, index, r)
	for _, f := range found {
		if at, is := f.(*netlink.BpfFilter); is {
			ids = append(ids, ebpf.ProgramID(at.Id))
		}
	}
	return ids, err
}

// all filters of an interface.
func (c clsact) all(p resource.Place, index int) ([]netlink.Filter, error) {
	dev := &netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: index}}
	all, err := p.FilterList(dev, c.parent)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) {
		return nil, nil // no clsact, so no filters
	}
	if err != nil {
		return nil, fmt.Errorf("list filters in namespace %q: %w", p.Ref, err)
	}
	return all, nil
}

// filters of a rank's priority.
func (c clsact) filters(p resource.Place, index int, r Rank) (found []netlink.Filter, err error) {
	all, err := c.all(p, index)
	if err != nil {
		return nil, err
	}
	priority, _ := r.seat()
	for _, f := range all {
		if f.Attrs().Priority == priority {
			found = append(found, f)
		}
	}
	return found, nil
}

func (c clsact) Put(p resource.Place, index int, r Rank, program, old *ebpf.Program) error {
	if old == nil {
		if err := c.isFree(p, index, r); err != nil {
			return err
		}
	}
	if err := Prepare(p, index); err != nil {
		return err
	}
	if r == Leads && old == nil {
		if put, err := c.putBehind(p, index, program); put || err != nil {
			return err
		}
	}
	priority, handle := r.seat()
	return c.put(p, index, priority, handle, program)
}

// put a program's filter there, in the place of one that has the same priority and handle, or else before all of that priority.
func (c clsact) put(p resource.Place, index int, priority uint16, handle uint32, program *ebpf.Program) error {
	info, err := program.Info()
	if err != nil {
		return err
	}
	f := c.filter(index, priority, handle)
	f.Fd, f.Name = program.FD(), info.Name
	return p.FilterReplace(f)
}

// putBehind what takes out probes, if something does, which has the same priority: the kernel asks the newest filter first, so that one with
// the same program has to come before the one in whose place it is put. At each step all that comes in meets what takes out probes first.
func (c clsact) putBehind(p resource.Place, index int, program *ebpf.Program) (put bool, err error) {
	taker, err := c.taker(p, index)
	if taker == nil || err != nil {
		return false, err
	}
	defer func() { _ = taker.Close() }()
	priority, first := Probes.seat()
	_, second := Leads.seat()
	spare := second + 1
	for _, step := range []func() error{
		func() error { return c.put(p, index, priority, spare, taker) },
		func() error { return c.drop(p, index, priority, first) },
		func() error { return c.put(p, index, priority, second, taker) },
		func() error { return c.put(p, index, priority, first, taker) },
		func() error { return c.put(p, index, priority, second, program) },
		func() error { return c.drop(p, index, priority, spare) },
	} {
		if err := step(); err != nil {
			return true, err
		}
	}
	return true, nil
}

// taker of probes at an interface; nil where there is none.
func (c clsact) taker(p resource.Place, index int) (*ebpf.Program, error) {
	found, err := c.filters(p, index, Probes)
	for _, f := range found {
		if at, is := f.(*netlink.BpfFilter); is && strings.HasPrefix(at.Name, ProbeMark) {
			taker, err := ebpf.NewProgramFromID(ebpf.ProgramID(at.Id))
			if errors.Is(err, unix.ENOENT) {
				return nil, nil
			}
			return taker, err
		}
	}
	return nil, err
}

// Prepare an interface to hold programs at clsact, unless it is. While that is put on, the kernel takes the queues of
// an interface that is up away for a moment, and drops what is sent by it meanwhile.
func Prepare(p resource.Place, index int) error {
	qdisc := &netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{
		LinkIndex: index, Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT,
	}}
	if err := p.QdiscAdd(qdisc); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("add the queueing discipline clsact: %w", err)
	}
	return nil
}

// isFree tells that no filter of somebody else's has the priority of a rank: it would be replaced.
func (c clsact) isFree(p resource.Place, index int, r Rank) error {
	found, err := c.filters(p, index, r)
	priority, _ := r.seat()
	for _, f := range found {
		if at, is := f.(*netlink.BpfFilter); !is || !marked(at.Name, priority) {
			return fmt.Errorf("somebody else's filter, of type %s, has priority %d there, which is nfchain's; give it another", f.Type(), priority)
		}
	}
	return err
}

// marked tells whether a program's name is one of nfchain's whose filters have a priority.
func marked(name string, priority uint16) bool {
	for r, mark := range marks {
		if its, _ := r.seat(); its == priority && strings.HasPrefix(name, mark) {
			return true
		}
	}
	return false
}

func (c clsact) Take(p resource.Place, index int, r Rank, _ *ebpf.Program) error {
	priority, handle := r.seat()
	return c.drop(p, index, priority, handle)
}

func (c clsact) drop(p resource.Place, index int, priority uint16, handle uint32) error {
	if err := p.FilterDel(c.filter(index, priority, handle)); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

func (c clsact) filter(index int, priority uint16, handle uint32) *netlink.BpfFilter {
	return &netlink.BpfFilter{
		FilterAttrs:  netlink.FilterAttrs{LinkIndex: index, Parent: c.parent, Handle: handle, Protocol: unix.ETH_P_ALL, Priority: priority},
		DirectAction: true,
	}
}

package steer

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// clsact holds programs as classifiers of tc(8) that decide by themselves.
type clsact struct{}

// priority of our classifier. A filter of another priority is somebody else's.
const priority = 7810

func (clsact) programs(p resource.Place, index int) ([]ebpf.ProgramID, error) {
	dev := &netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: index}}
	filters, err := p.FilterList(dev, netlink.HANDLE_MIN_INGRESS)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		return nil, nil // no clsact, so no filters
	}
	if err != nil {
		return nil, fmt.Errorf("list filters in namespace %q: %w", p.Ref, err)
	}
	var ids []ebpf.ProgramID
	for _, f := range filters {
		if at, is := f.(*netlink.BpfFilter); is && at.Priority == priority {
			ids = append(ids, ebpf.ProgramID(at.Id))
		}
	}
	return ids, nil
}

func (clsact) put(p resource.Place, index int, program, _ *ebpf.Program) error {
	qdisc := &netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{
		LinkIndex: index, Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT,
	}}
	if err := p.QdiscAdd(qdisc); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("add the queueing discipline clsact: %w", err)
	}
	return p.FilterReplace(filter(index, program.FD()))
}

func (clsact) take(p resource.Place, index int, _ *ebpf.Program) error {
	if err := p.FilterDel(filter(index, 0)); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

func filter(index, program int) *netlink.BpfFilter {
	return &netlink.BpfFilter{
		FilterAttrs: netlink.FilterAttrs{LinkIndex: index, Parent: netlink.HANDLE_MIN_INGRESS, Handle: 1, Protocol: unix.ETH_P_ALL, Priority: priority},
		Fd:          program, Name: Name, DirectAction: true,
	}
}

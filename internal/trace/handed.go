package trace

import (
	"encoding/binary"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	bpf "nfchain.dev/nfchain/bpf/trace"
)

// watch by packet sockets what a forwarder hands to nodes, where there are packets of our own.
func (p *probe) watch(signature uint32) error {
	for i, at := range p.view.points {
		if !at.handed || !p.marked {
			continue
		}
		if err := p.watchAt(at, uint32(i), signature); err != nil {
			return fmt.Errorf("look at what comes in by %s of %s: %w", at.device, at.node.Name, err)
		}
	}
	return nil
}

// watchAt a point by a socket there. Its program sees all packets and takes none.
func (p *probe) watchAt(at point, number, signature uint32) error {
	spec, err := bpf.LoadProgram()
	if err != nil {
		return err
	}
	if err := p.set(spec, signature, number); err != nil {
		return err
	}
	spec.Maps["passed"].MaxEntries, spec.Maps["times"].MaxEntries = p.objects.Passed.MaxEntries(), p.objects.Times.MaxEntries()
	var loaded struct {
		Shown *ebpf.Program `ebpf:"shown"`
	}
	o := ebpf.CollectionOptions{MapReplacements: map[string]*ebpf.Map{"passed": p.objects.Passed, "times": p.objects.Times}}
	if err := spec.LoadAndAssign(&loaded, &o); err != nil {
		return err
	}
	defer func() { _ = loaded.Shown.Close() }()
	return at.node.Do(func() error {
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		p.sockets = append(p.sockets, fd)
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ATTACH_BPF, loaded.Shown.FD()); err != nil {
			return err
		}
		return unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: everything, Ifindex: int(at.index)})
	})
}

// everything that passes an interface, in network byte order.
var everything = binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))

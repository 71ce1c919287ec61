package through

import (
	"errors"
	"fmt"
	"net"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// inTheDriver has a program run there, and not by the kernel in its place (XDP_FLAGS_DRV_MODE).
const inTheDriver = 1 << 2

// atXDP is the program in an interface's driver; nil where there is none of nfchain's. It is
// called in the interface's namespace.
func atXDP(p resource.Place, index int) (*attached, error) {
	id, err := idAtXDP(p, index)
	if err != nil || id == 0 {
		return nil, err
	}
	a, err := held.Open(id, held.ThroughMark)
	if err != nil || a == nil {
		return nil, err
	}
	return &attached{a}, nil
}

// idAtXDP is the number of the program in an interface's driver, 0 where there is none.
func idAtXDP(p resource.Place, index int) (ebpf.ProgramID, error) {
	l, err := p.LinkByIndex(index)
	if errors.As(err, new(netlink.LinkNotFoundError)) {
		return 0, nil
	}
	if err != nil || l.Attrs().Xdp == nil || !l.Attrs().Xdp.Attached {
		return 0, err
	}
	return ebpf.ProgramID(l.Attrs().Xdp.ProgId), nil
}

// keepFrames has frames take the way that packets behind the driver take: by this version's
// program with the maps of the one there.
func keepFrames(p resource.Place, index int) error {
	behind, err := atTC(p, index)
	defer held.CloseAll(behind)
	if err != nil {
		return err
	}
	old, err := atXDP(p, index)
	if err != nil {
		return err
	}
	if old != nil {
		defer old.Close()
		if old.Name == Name && same(old.Maps[nextMap], behind[0].Maps[nextMap]) {
			return nil
		}
	} else if id, err := idAtXDP(p, index); err != nil || id != 0 {
		return errors.Join(err, fmt.Errorf("program %d is in its driver, which is somebody else's; take it away with `ip link set dev … xdp off`, or write mode: tc", id))
	}
	program, err := loadBeside(inDriver, behind[0].Maps)
	if err != nil {
		return err
	}
	defer func() { _ = program.Close() }()
	if err := setFrames(index, program.FD()); err != nil {
		return fmt.Errorf("attach XDP in the driver: %w", err)
	}
	return nil
}

// takeFrames away from nfchain's program in an interface's driver, if it has one.
func takeFrames(p resource.Place, index int) error {
	old, err := atXDP(p, index)
	if err != nil || old == nil {
		return err
	}
	old.Close()
	err = setFrames(index, -1)
	if errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}

func setFrames(index, program int) error {
	dev := &netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: index, Flags: net.FlagUp}}
	return netlink.LinkSetXdpFdWithFlags(dev, program, inTheDriver)
}

// same tells whether two maps are one.
func same(a, b *ebpf.Map) bool {
	if a == nil || b == nil {
		return false
	}
	x, errX := a.Info()
	y, errY := b.Info()
	if errX != nil || errY != nil {
		return false
	}
	i, _ := x.ID()
	j, _ := y.ID()
	return i == j
}

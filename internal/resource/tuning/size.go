package tuning

import (
	"strconv"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/resource"
)

// sizes of super-packets, in bytes: sent, and merged on receipt (BIG TCP above 65536).
// Those of all families come before those of IPv4, which follow them up to 65536 and which
// ip(8) knows since iproute2 6.3 only.
var sizes = []knob{
	size("gso_max_size", "sm", linkCommand("gso_max_size"), func(a *netlink.LinkAttrs) uint32 { return a.GSOMaxSize },
		func(at *port, n int) error { return at.LinkSetGSOMaxSize(at.link, n) }),
	size("gro_max_size", "rm", linkCommand("gro_max_size"), func(a *netlink.LinkAttrs) uint32 { return a.GROMaxSize },
		func(at *port, n int) error { return at.LinkSetGROMaxSize(at.link, n) }),
	size("gso_ipv4_max_size", "s4", nil, func(a *netlink.LinkAttrs) uint32 { return a.GSOIPv4MaxSize },
		func(at *port, n int) error { return at.LinkSetGSOIPv4MaxSize(at.link, n) }),
	size("gro_ipv4_max_size", "r4", nil, func(a *netlink.LinkAttrs) uint32 { return a.GROIPv4MaxSize },
		func(at *port, n int) error { return at.LinkSetGROIPv4MaxSize(at.link, n) }),
}

func size(name, code string, command func(ns, device, value string) resource.Command, of func(*netlink.LinkAttrs) uint32, set func(*port, int) error) knob {
	return knob{
		name: name, code: code, command: command,
		read: func(at *port) (string, error) {
			l, err := at.LinkByIndex(at.link.Attrs().Index)
			if err != nil {
				return "", err
			}
			return strconv.FormatUint(uint64(of(l.Attrs())), 10), nil
		},
		write: func(at *port, value string) error {
			n, err := strconv.Atoi(value)
			if err != nil {
				return err
			}
			return set(at, n)
		},
		hint: "`ip -d link` tells the driver's largest (tso_max_size); above 65536 needs Linux 5.19, for IPv4 6.3",
	}
}

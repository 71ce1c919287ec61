package tuning

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// protocol of the routes that are there only to announce a segment size; no other kind
// takes them for its own.
const protocol = 79

// nearer is the metric of such a route, less than the 256 of the kernel's own.
const nearer = 128

// segment is how large a segment may be.
var segment = []knob{{name: "tcp_mss", code: "ms", read: readMSS, write: writeMSS}}

// readMSS is the largest segment that the routes over an interface announce.
func readMSS(at *port) (string, error) {
	routes, err := at.routes()
	if err != nil {
		return "", err
	}
	value := ""
	for i, r := range routes {
		mss := None
		if r.AdvMSS > 0 {
			mss = strconv.Itoa(r.AdvMSS)
		}
		if i > 0 && mss != value {
			return differs, nil
		}
		value = mss
	}
	if value == "" {
		return "", errors.New("no route leads over the interface")
	}
	return value, nil
}

// writeMSS has every route over the interface announce it, the one to its peer too.
func writeMSS(at *port, value string) error {
	mss := 0
	if value != None {
		n, err := strconv.Atoi(value)
		if err != nil {
			return err
		}
		mss = n
	}
	routes, err := at.routes()
	if err != nil {
		return err
	}
	for _, r := range routes {
		if r.AdvMSS == mss {
			continue
		}
		if err := at.announce(r, mss); err != nil {
			return fmt.Errorf("route to %s: %w", r.Dst, err)
		}
	}
	return nil
}

// announce a size with a route.
func (at *port) announce(r netlink.Route, mss int) error {
	r.AdvMSS = mss
	if r.Protocol == protocol && mss == 0 {
		return at.RouteDel(&r)
	}
	return at.RouteReplace(&r)
}

// routes over the interface that connections go by. The kernel takes its own of IPv6 away
// and makes them anew whenever the link comes up, so those to peers are of this package:
// one that is not there yet announces nothing.
func (at *port) routes() ([]netlink.Route, error) {
	filter := &netlink.Route{LinkIndex: at.link.Attrs().Index, Table: unix.RT_TABLE_MAIN}
	all, err := at.RouteListFiltered(netlink.FAMILY_ALL, filter, netlink.RT_FILTER_OIF|netlink.RT_FILTER_TABLE)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(r netlink.Route) bool {
		passing := r.Protocol == unix.RTPROT_KERNEL && r.Dst != nil && r.Dst.IP.To4() == nil
		return r.Dst == nil || r.Type != unix.RTN_UNICAST || passing || linkLocal(r.Dst.IP)
	})
	peers, err := at.peers()
	for _, peer := range peers {
		if !slices.ContainsFunc(all, func(r netlink.Route) bool { return r.Dst.String() == peer.String() }) {
			all = append(all, netlink.Route{LinkIndex: at.link.Attrs().Index, Dst: peer, Protocol: protocol, Priority: nearer, Table: unix.RT_TABLE_MAIN})
		}
	}
	return all, err
}

// peers of the interface's IPv6 addresses.
func (at *port) peers() ([]*net.IPNet, error) {
	addresses, err := at.AddrList(at.link, netlink.FAMILY_V6)
	var all []*net.IPNet
	for _, a := range addresses {
		if a.Peer != nil && !a.Peer.IP.Equal(a.IP) && !linkLocal(a.IP) {
			all = append(all, a.Peer)
		}
	}
	return all, err
}

func linkLocal(ip net.IP) bool { return ip.IsLinkLocalUnicast() || ip.IsMulticast() }

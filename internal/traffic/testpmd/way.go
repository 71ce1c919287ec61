package testpmd

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/traffic"
)

// way is how frames to the server leave the client.
type way struct {
	device string
	from   netip.Addr
	next   net.HardwareAddr
}

// cores that testpmd's threads may use, all of them where none are named.
func cores(affinity string) string {
	list := traffic.Cores(affinity)
	if len(list) == 0 {
		list = traffic.Cores("spread")
	}
	words := make([]string, len(list))
	for i, c := range list {
		words[i] = strconv.Itoa(c)
	}
	return strings.Join(words, ",")
}

// wayOf reads the route to the server and its first neighbour, which the plan of a
// chain has made.
func wayOf(job traffic.Job) (way, error) {
	h, err := netns.Open(job.ClientNetns)
	if err != nil {
		return way{}, err
	}
	defer h.Close()
	routes, err := h.RouteGet(job.Address.AsSlice())
	if err != nil || len(routes) == 0 {
		return way{}, fmt.Errorf("%s has no route to %s: %w", job.ClientNode, job.Address, err)
	}
	l, err := h.LinkByIndex(routes[0].LinkIndex)
	if err != nil {
		return way{}, err
	}
	next := routes[0].Gw
	if next == nil {
		next = job.Address.AsSlice()
	}
	w := way{device: l.Attrs().Name}
	w.from, _ = netip.AddrFromSlice(routes[0].Src.To4())
	neighbours, err := h.NeighList(routes[0].LinkIndex, 0)
	if err != nil {
		return way{}, err
	}
	for _, n := range neighbours {
		if n.IP.Equal(next) && len(n.HardwareAddr) == 6 {
			w.next = n.HardwareAddr
		}
	}
	if w.next == nil || !w.from.IsValid() {
		return way{}, fmt.Errorf("%s does not know the link-layer address of %s; `ping` it first", job.ClientNode, next)
	}
	return w, nil
}

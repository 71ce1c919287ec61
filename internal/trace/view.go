package trace

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/ethtool"
	"nfchain.dev/nfchain/internal/resource"
)

// view is a chain's namespaces held open.
type view struct {
	nodes  []*seat
	points []point
	// taps are the names of places where copies end, by the inode of their namespace.
	taps map[uint32]string
	// tapped are the inodes of those, by name.
	tapped []uint32
	// passing are the inodes of namespaces of nodes that pass on.
	passing map[uint32]bool
	// between is the inode of the wiring's own namespace, 0 where there is none.
	between uint32
	// ports of that by name, each with the node's interface at its other end, as client:eth0.
	ports map[string]string
	names *names
}

// copied tells whether what ends there for that reason is only a copy. A switch in user
// space takes packets by sockets, and what the kernel then finds to be for another host
// is what it keeps of a packet that was taken.
func (v *view) copied(inode, reason uint32) bool {
	name := v.names.reason(reason)
	return v.taps[inode] != "" || copies[name] || inode == v.between && name == "OTHERHOST"
}

// timed are the namespaces of which it is told how long softirqs take there: the nodes' in their order,
// and then the taps'.
func (v *view) timed() (all []uint32) {
	for _, n := range v.nodes {
		all = append(all, n.inode)
	}
	return append(all, v.tapped...)
}

// seat is a node with what is asked of its namespace.
type seat struct {
	Node
	*netns.Handle
	drivers *ethtool.Socket
	inode   uint32
	// devices are its interfaces by index, and vlans of which VLANs it has interfaces at one of those.
	devices map[uint32]string
	vlans   map[string][]uint16
}

// point is where packets pass: in at an interface, or out.
type point struct {
	node   *seat
	device string
	inode  uint32
	index  uint32
	out    bool
	// handed packets are seen by a packet socket.
	handed bool
}

func open(c Chain) (*view, error) {
	v := &view{taps: map[uint32]string{}, passing: map[uint32]bool{}, ports: map[string]string{}, names: newNames()}
	for port, of := range c.Ports {
		if at := slices.IndexFunc(c.Nodes, func(n Node) bool { return n.Namespace == of.Namespace }); at >= 0 {
			v.ports[port] = c.Nodes[at].Name + ":" + of.Device
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Taps)) {
		inode, err := netns.Inode(c.Taps[name])
		if err != nil {
			return nil, err
		}
		v.taps[uint32(inode)], v.tapped = name, append(v.tapped, uint32(inode))
	}
	for _, n := range c.places() {
		s := &seat{Node: n, devices: map[uint32]string{}, vlans: map[string][]uint16{}}
		v.nodes = append(v.nodes, s)
		if err := s.open(); err != nil {
			v.close()
			return nil, fmt.Errorf("node %s: %w", n.Name, err)
		}
		if n.Kind == wiringKind {
			v.between = s.inode
		}
		v.passing[s.inode] = n.PassesOn
		if err := v.addPoints(s); err != nil {
			v.close()
			return nil, fmt.Errorf("node %s: %w", n.Name, err)
		}
	}
	return v, nil
}

// wiringKind is what the wiring's own namespace is called.
const wiringKind = "wiring"

// LeavingKind stands in the place of the kind of a node that its chain no longer has, by which flows go from before.
const LeavingKind = "leaving"

// WiringHop is the name of what is between nodes, as a hop.
const WiringHop = "(" + wiringKind + ")"

// places are the nodes, and after them what is between.
func (c Chain) places() []Node {
	if c.Between == "" {
		return c.Nodes
	}
	return append(slices.Clone(c.Nodes), Node{Name: WiringHop, Kind: wiringKind, Namespace: c.Between})
}

func (s *seat) open() (err error) {
	inode, err := netns.Inode(s.Namespace)
	if err != nil {
		return err
	}
	s.inode = uint32(inode)
	if s.Handle, err = netns.Open(s.Namespace); err != nil {
		return err
	}
	s.drivers, err = ethtool.Open(s.Namespace)
	return err
}

func (v *view) addPoints(s *seat) error {
	links, err := s.LinkList()
	if err != nil {
		return err
	}
	for _, l := range links {
		s.devices[uint32(l.Attrs().Index)] = l.Attrs().Name
	}
	for _, l := range links {
		if vlan, is := l.(*netlink.Vlan); is {
			at := s.devices[uint32(l.Attrs().ParentIndex)]
			s.vlans[at] = append(s.vlans[at], uint16(vlan.VlanId))
		}
	}
	for _, name := range s.Interfaces {
		index, ok := s.indexOf(name)
		if !ok {
			return fmt.Errorf("namespace %q has no interface %s; `nfchain up` mends the chain", s.Namespace, name)
		}
		if s.Hands && !s.Handed[name] {
			continue
		}
		in := point{s, name, s.inode, index, false, s.Handed[name]}
		if at, elsewhere := s.Arrivals[name]; elsewhere {
			if in.inode, in.index, err = locate(at); err != nil {
				return err
			}
		}
		if v.points = append(v.points, in); s.Hands {
			continue
		}
		v.points = append(v.points, point{s, name, s.inode, index, true, false})
	}
	return nil
}

// locate an interface: the inode of its namespace, and its index there.
func locate(i resource.Interface) (inode, index uint32, err error) {
	whole, err := netns.Inode(i.Namespace)
	if err != nil {
		return 0, 0, err
	}
	inode = uint32(whole)
	h, err := netns.Open(i.Namespace)
	if err != nil {
		return 0, 0, err
	}
	defer h.Close()
	l, err := h.LinkByName(i.Device)
	if err != nil {
		return 0, 0, fmt.Errorf("namespace %q has no interface %s; `nfchain up` mends the chain", i.Namespace, i.Device)
	}
	return inode, uint32(l.Attrs().Index), nil
}

func (s *seat) indexOf(name string) (uint32, bool) {
	for index, n := range s.devices {
		if n == name {
			return index, true
		}
	}
	return 0, false
}

func (v *view) close() {
	for _, s := range v.nodes {
		if s.drivers != nil {
			s.drivers.Close()
		}
		if s.Handle != nil {
			s.Handle.Close()
		}
	}
}

// reading is a chain's counters at one moment, by node.
type reading struct {
	interfaces map[string]map[string]counters
	counted    map[string]Counted
}

// counters of an interface.
type counters struct {
	// kind of interface it is, as ip-link(8) has it.
	kind    string
	in, out Amount
	driver  map[string]uint64
	queues  []Queue
}

func (v *view) read(ctx context.Context, c Chain) (r reading, err error) {
	r.interfaces = map[string]map[string]counters{}
	for _, s := range v.nodes {
		if r.interfaces[s.Name], err = s.read(); err != nil {
			return r, fmt.Errorf("read the counters of %s: %w", s.Name, err)
		}
	}
	if c.Counted != nil {
		r.counted, err = c.Counted(ctx)
	}
	return r, err
}

func (s *seat) read() (map[string]counters, error) {
	links, err := s.LinkList()
	if err != nil {
		return nil, err
	}
	queues, err := s.queues()
	if err != nil {
		return nil, err
	}
	all := map[string]counters{}
	for _, l := range links {
		a := l.Attrs()
		if a.Statistics == nil {
			continue
		}
		all[a.Name] = counters{
			kind:   l.Type(),
			in:     Amount{a.Statistics.RxPackets, a.Statistics.RxBytes},
			out:    Amount{a.Statistics.TxPackets, a.Statistics.TxBytes},
			driver: s.losses(a.Name),
			queues: queues[a.Index],
		}
	}
	return all, nil
}

// losses are the driver's own counters of what it lost. A driver that does not answer
// has none.
func (s *seat) losses(device string) map[string]uint64 {
	found := map[string]uint64{}
	stats, _ := s.drivers.Statistics(device)
	for name, n := range stats {
		if strings.Contains(name, "drop") || strings.Contains(name, "err") {
			found[name] = n
		}
	}
	return found
}

// queues of a namespace by the index of their interface.
func (s *seat) queues() (map[int][]Queue, error) {
	list, err := s.QdiscList(nil)
	if err != nil {
		return nil, err
	}
	found := map[int][]Queue{}
	for _, q := range list {
		a := q.Attrs()
		if a.Statistics == nil || a.Statistics.Queue == nil {
			continue
		}
		stats := a.Statistics.Queue
		found[a.LinkIndex] = append(found[a.LinkIndex], Queue{Kind: q.Type(), Drops: uint64(stats.Drops),
			Overlimits: uint64(stats.Overlimits), Backlog: uint64(stats.Qlen)})
	}
	return found, nil
}

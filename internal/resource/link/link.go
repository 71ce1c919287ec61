// Package link makes virtual Ethernet pairs whose two ends live in any two
// namespaces.
package link

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// KindName of links in a plan.
const KindName = "link"

// End is one end of a pair.
type End struct {
	// Node is the endpoint or function the end belongs to.
	Node      string `json:"node"`
	Namespace string `json:"namespace"`
	Device    string `json:"device"`
	MAC       string `json:"mac"`
}

// Spec of a pair. The resource lives in A's namespace.
type Spec struct {
	Owner string `json:"owner"`
	A     End    `json:"a"`
	B     End    `json:"b"`
	MTU   int    `json:"mtu"`
	// Quiet has the kernel send nothing of its own from A: there is no IPv6 at that end,
	// whose groups it would announce at times of its choosing (RFC 3810).
	Quiet bool `json:"quiet,omitempty"`
	// Holds has both ends be prepared for programs at clsact before they are up, where the kernel has no tcx: a chain
	// that comes to need some later then loses nothing. Pairs from before are left as they are.
	Holds bool `json:"holds,omitempty"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the name of the end in the resource's own namespace.
func (s Spec) Key() string { return s.A.Device }

// Fingerprint is who is joined to whom, and how, at both ends.
func (s Spec) Fingerprint() string {
	return fingerprint(seen{s.A.Device, s.alias(), s.MTU, s.A.MAC}, seen{s.B.Device, s.alias(), s.MTU, s.B.MAC}, true) + hush(s.Quiet)
}

// Interfaces are both ends.
func (s Spec) Interfaces() []resource.Interface {
	return []resource.Interface{{Namespace: s.A.Namespace, Device: s.A.Device}, {Namespace: s.B.Namespace, Device: s.B.Device}}
}

// seen is what can be read of one end.
type seen struct {
	name, alias string
	mtu         int
	mac         string
}

func fingerprint(a, b seen, up bool) string {
	return fmt.Sprintf("%s mtu=%d mac=%s up=%t peer=%s mtu=%d mac=%s marked=%t", a.alias, a.mtu, a.mac, up, b.name, b.mtu, b.mac, a.alias == b.alias)
}

// alias marks both ends with their owner and with what they join; three names of
// 63 letters fit the kernel's 255.
func (s Spec) alias() string {
	return fmt.Sprintf("%s%s:%s=%s:%s%s", resource.Mark(s.Owner), s.A.place(s.Owner), s.A.Device, s.B.place(s.Owner), s.B.Device, hush(s.Quiet))
}

// place is the node, with a sign of its namespace where that is not the node's own.
func (e End) place(owner string) string {
	if e.Namespace == namespace.Name(owner, e.Node) {
		return e.Node
	}
	sum := sha256.Sum256([]byte(e.Namespace))
	return e.Node + "@" + hex.EncodeToString(sum[:4])
}

// Commands implements resource.Spec.
func (s Spec) Commands(string) []resource.Command {
	mtu := fmt.Sprint(s.MTU)
	peer := []string{"peer", "name", s.B.Device, "address", s.B.MAC, "mtu", mtu}
	if s.B.Namespace != netns.Host {
		peer = append(peer, "netns", s.B.Namespace)
	} else {
		peer = append(peer, "netns", "1")
	}
	add := append([]string{"link", "add", s.A.Device, "address", s.A.MAC, "mtu", mtu, "type", "veth"}, peer...)
	commands := []resource.Command{resource.IP(s.A.Namespace, add...)}
	if s.Quiet {
		commands = append(commands, resource.In(s.A.Namespace, "sysctl", "-qw", "net.ipv6.conf."+s.A.Device+".disable_ipv6=1"))
	}
	if s.Holds {
		for _, end := range []End{s.A, s.B} {
			commands = append(commands, resource.TC(end.Namespace, "qdisc", "add", "dev", end.Device, "clsact"))
		}
	}
	return append(commands,
		resource.IP(s.A.Namespace, "link", "set", s.A.Device, "up", "alias", s.alias()),
		resource.IP(s.B.Namespace, "link", "set", s.B.Device, "up", "alias", s.alias()))
}

// Kind makes links.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind: it finds pairs by their A end.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	links, err := p.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list interfaces of namespace %q: %w", p.Ref, err)
	}
	var found []resource.Observed
	for _, l := range links {
		if aEnd(p, l) {
			found = append(found, resource.Observed{Key: l.Attrs().Name, Fingerprint: observe(p, l)})
		}
	}
	return found, nil
}

// observe reads both ends. Their flags are asked, not the operational state, which
// follows a while later.
func observe(p resource.Place, l netlink.Link) string {
	a := l.Attrs()
	far, err := peer(p, a)
	if err != nil {
		return fmt.Sprintf("other end unknown: %v", err)
	}
	return fingerprint(look(a), look(far.Attrs()), a.Flags&far.Attrs().Flags&net.FlagUp != 0) + hush(quiet(p, a))
}

func look(a *netlink.LinkAttrs) seen { return seen{a.Name, a.Alias, a.MTU, a.HardwareAddr.String()} }

func peer(p resource.Place, a *netlink.LinkAttrs) (netlink.Link, error) {
	if a.NetNsID < 0 {
		return p.LinkByIndex(a.ParentIndex)
	}
	return p.Elsewhere(a.NetNsID, a.ParentIndex)
}

// Apply implements resource.Kind.
func (k Kind) Apply(p resource.Place, changes []resource.Change) error {
	for _, c := range changes {
		if c.Op != resource.Create {
			if err := removeOld(p, c.Key); err != nil {
				return err
			}
		}
		if c.Op == resource.Delete {
			continue
		}
		if err := k.create(p, c.Spec.(Spec)); err != nil {
			return err
		}
	}
	return nil
}

// removeOld removes a pair by its A end. Meanwhile a neighbour may have taken the
// name for an end of its own; that one stays.
func removeOld(p resource.Place, name string) error {
	l, err := p.LinkByName(name)
	if err != nil {
		return ifThere(err)
	}
	if !aEnd(p, l) {
		return nil
	}
	return remove(p.Handle, l)
}

// create makes a pair in one request, then marks and raises its ends. What a process that
// was killed between left unmarked goes with the owner's namespace; a pair of which no end
// is in one is made and marked elsewhere, and so is one that has an end in a container of another
// runtime's, which is to find nothing there that it could take for its own.
func (k Kind) create(p resource.Place, s Spec) error {
	far, err := netns.Open(s.B.Namespace)
	if err != nil {
		return err
	}
	defer far.Close()
	join := add
	if !namespace.Owns(s.Owner, s.A.Namespace) && !namespace.Owns(s.Owner, s.B.Namespace) || brought(s.A.Namespace) || brought(s.B.Namespace) {
		join = bring
	}
	if err := join(p.Handle, far, s); err != nil {
		return fmt.Errorf("join %s to %s: create veth pair: %w", s.A.Node, s.B.Node, err)
	}
	if s.Quiet {
		if err := silence(p.Handle, s.A.Device); err != nil {
			return err
		}
	}
	if err := k.raise(p, s.A.Device, s.alias(), s.Holds); err != nil {
		return err
	}
	return k.raise(resource.At(far, s.Owner), s.B.Device, s.alias(), s.Holds)
}

// add makes the pair. An interface of either name that has no mark is what a
// killed process left between making and marking; one with the owner's own mark
// is from before an edit. Both are replaced; any other belongs to somebody.
func add(h, far *netns.Handle, s Spec) error {
	macA, err := net.ParseMAC(s.A.MAC)
	if err != nil {
		return err
	}
	macB, err := net.ParseMAC(s.B.MAC)
	if err != nil {
		return err
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU, attrs.HardwareAddr = s.A.Device, s.MTU, macA
	veth := &netlink.Veth{
		LinkAttrs: attrs, PeerName: s.B.Device, PeerHardwareAddr: macB,
		PeerMTU: uint32(s.MTU), PeerNamespace: netlink.NsFd(far.FD()),
		PeerTxQLen: -1, // the kernel's own, as at this end; 0 would be asked for
	}
	err = h.LinkAdd(veth)
	if !errors.Is(err, unix.EEXIST) {
		return err
	}
	for _, end := range []struct {
		h    *netns.Handle
		name string
	}{{h, s.A.Device}, {far, s.B.Device}} {
		if err := removeStale(end.h, end.name, s.Owner); err != nil {
			return err
		}
	}
	return h.LinkAdd(veth)
}

func removeStale(h *netns.Handle, name, owner string) error {
	l, err := h.LinkByName(name)
	if err != nil {
		return ifThere(err)
	}
	alias := l.Attrs().Alias
	if !resource.Owned(alias, owner) && (alias != "" || l.Type() != "veth" || brought(h.Ref)) {
		return fmt.Errorf("interface %s already exists in namespace %q and is not this chain's; remove or rename it", name, h.Ref)
	}
	return remove(h, l)
}

// brought tells whether a namespace is a container's of another runtime, in which other interfaces may be as well.
func brought(name string) bool {
	_, _, is := namespace.SplitBrought(name)
	return is
}

// raise and mark an interface, prepared for programs if it is to hold some.
func (Kind) raise(p resource.Place, name, alias string, holds bool) error {
	l, err := p.LinkByName(name)
	if err != nil {
		return fmt.Errorf("interface %s of namespace %q: %w", name, p.Ref, err)
	}
	if err := p.LinkSetAlias(l, alias); err != nil {
		return fmt.Errorf("mark interface %s of namespace %q: %w", name, p.Ref, err)
	}
	if holds {
		if err := held.Prepare(p, l.Attrs().Index); err != nil {
			return fmt.Errorf("interface %s of namespace %q: %w", name, p.Ref, err)
		}
	}
	if err := p.LinkSetUp(l); err != nil {
		return fmt.Errorf("raise interface %s of namespace %q: %w", name, p.Ref, err)
	}
	return nil
}

// ifThere forgives that an interface was not found.
func ifThere(err error) error {
	var gone netlink.LinkNotFoundError
	if errors.As(err, &gone) {
		return nil
	}
	return err
}

// remove an interface. A port of a switch in the kernel cannot be; it goes with its switch, or with
// the namespace that it is in.
func remove(h *netns.Handle, l netlink.Link) error {
	err := h.LinkDel(l)
	if errors.Is(err, unix.EOPNOTSUPP) && l.Type() == "openvswitch" {
		return nil
	}
	if err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("remove interface %s of namespace %q: %w", l.Attrs().Name, h.Ref, err)
	}
	return nil
}

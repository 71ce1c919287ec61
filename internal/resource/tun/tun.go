// Package tun makes the devices by which a program of nfchain's own takes packets
// out of the kernel and puts them back: persistent ones, so that they are there
// before the program and outlive it.
package tun

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// KindName of tun devices in a plan.
const KindName = "tun"

// MTU is the largest that a tun device takes: what comes in is as long as the
// chain's own interfaces let it be.
const MTU = 65535

// Spec of a device.
type Spec struct {
	Owner string `json:"owner"`
	// Node is the function whose program reads it.
	Node   string `json:"node"`
	Device string `json:"device"`
	// QueueLength is how many packets wait for the program.
	QueueLength int `json:"queue_length"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the device's name.
func (s Spec) Key() string { return s.Device }

// Fingerprint is whose it is, and how it is set.
func (s Spec) Fingerprint() string {
	return fingerprint(s.alias(), MTU, s.QueueLength, true, true, noQueue)
}

func fingerprint(alias string, mtu, queue int, up, usable bool, qdisc string) string {
	return fmt.Sprintf("%s mtu=%d queue=%d up=%t usable=%t qdisc=%s", alias, mtu, queue, up, usable, qdisc)
}

// noQueue is the queueing discipline: none. Packets wait in the device's own queue, and
// who sends one learns that it was full, as he would not through a discipline.
const noQueue = "noqueue"

// aliasSign follows the owner's mark, so that the device is not taken for the end
// of a link.
const aliasSign = "tun:"

func (s Spec) alias() string { return resource.Mark(s.Owner) + aliasSign + s.Node }

// Commands implements resource.Spec.
func (s Spec) Commands(ns string) []resource.Command {
	return []resource.Command{
		resource.IP(ns, "tuntap", "add", "dev", s.Device, "mode", "tun"),
		resource.IP(ns, "link", "set", s.Device, "mtu", fmt.Sprint(MTU), "txqueuelen", fmt.Sprint(s.QueueLength), "up", "alias", s.alias()),
		resource.TC(ns, "qdisc", "replace", "dev", s.Device, "root", noQueue),
	}
}

// Kind makes tun devices.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	links, err := p.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list interfaces of namespace %q: %w", p.Ref, err)
	}
	var found []resource.Observed
	for _, l := range links {
		if strings.HasPrefix(l.Attrs().Alias, resource.Mark(p.Owner)+aliasSign) {
			text, err := observe(p, l)
			if err != nil {
				return nil, err
			}
			found = append(found, resource.Observed{Key: l.Attrs().Name, Fingerprint: text})
		}
	}
	return found, nil
}

func observe(p resource.Place, l netlink.Link) (string, error) {
	a, qdisc := l.Attrs(), ""
	list, err := p.QdiscList(l)
	if err != nil {
		return "", fmt.Errorf("list queueing disciplines of %s in namespace %q: %w", a.Name, p.Ref, err)
	}
	for _, q := range list {
		if q.Attrs().Parent == netlink.HANDLE_ROOT {
			qdisc = q.Type()
		}
	}
	return fingerprint(a.Alias, a.MTU, a.TxQLen, a.Flags&net.FlagUp != 0, usable(l), qdisc), nil
}

// usable tells whether a device is one that [Attach] can attach to, and that stays.
func usable(l netlink.Link) bool {
	t, ok := l.(*netlink.Tuntap)
	return ok && t.Mode == netlink.TUNTAP_MODE_TUN && !t.NonPersist &&
		t.Flags&(netlink.TUNTAP_NO_PI|netlink.TUNTAP_VNET_HDR|netlink.TUNTAP_MULTI_QUEUE) == netlink.TUNTAP_NO_PI
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	for _, c := range changes {
		var err error
		if c.Op == resource.Delete {
			err = remove(p, c.Key)
		} else {
			err = apply(p, c.Spec.(Spec))
		}
		if err != nil {
			return fmt.Errorf("tun device %s of namespace %q: %w", c.Key, p.Ref, err)
		}
	}
	return nil
}

// apply makes the device, or takes the one that is there, and sets it.
func apply(p resource.Place, s Spec) error {
	l, err := p.LinkByName(s.Device)
	if err == nil && !ours(l, s.Owner) {
		return errors.New("there is another interface of this name, which is not this chain's; remove or rename it")
	}
	if err == nil && !usable(l) {
		if err := remove(p, s.Device); err != nil {
			return err
		}
	}
	if err != nil || !usable(l) {
		if err := p.Do(func() error { return create(s.Device) }); err != nil {
			return err
		}
	}
	return set(p, s)
}

// ours tells whether an interface is the owner's, or a tun device without a mark,
// as a killed process leaves it between making and marking.
func ours(l netlink.Link, owner string) bool {
	_, isTun := l.(*netlink.Tuntap)
	return resource.Owned(l.Attrs().Alias, owner) || isTun && l.Attrs().Alias == ""
}

func set(p resource.Place, s Spec) error {
	l, err := p.LinkByName(s.Device)
	if err != nil {
		return err
	}
	return errors.Join(p.LinkSetAlias(l, s.alias()), p.LinkSetMTU(l, MTU), p.LinkSetTxQLen(l, s.QueueLength),
		p.QdiscReplace(unqueued(l)), p.LinkSetUp(l))
}

func unqueued(l netlink.Link) netlink.Qdisc {
	attrs := netlink.QdiscAttrs{LinkIndex: l.Attrs().Index, Parent: netlink.HANDLE_ROOT}
	return &netlink.GenericQdisc{QdiscAttrs: attrs, QdiscType: noQueue}
}

func remove(p resource.Place, name string) error {
	l, err := p.LinkByName(name)
	var gone netlink.LinkNotFoundError
	if errors.As(err, &gone) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := p.LinkDel(l); err != nil && !errors.Is(err, unix.ENODEV) {
		return err
	}
	return nil
}

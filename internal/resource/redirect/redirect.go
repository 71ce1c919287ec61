// Package redirect passes what an interface takes in to another device, before
// the kernel looks at it, or a copy of it: a classifier of tc(8) on the way in. Packets to link-local
// and multicast addresses stay, for they concern the link alone.
package redirect

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// KindName of redirections in a plan.
const KindName = "redirect"

// Spec of one interface's redirection.
type Spec struct {
	Device string `json:"device"`
	// To is the device that gets the packets.
	To string `json:"to"`
	// Copy lets the packets go on as well.
	Copy bool `json:"copy,omitempty"`
	// Source and Destination of those that are passed on, of one family; a zero prefix is any.
	Source      netip.Prefix `json:"source,omitzero"`
	Destination netip.Prefix `json:"destination,omitzero"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the interface.
func (s Spec) Key() string { return s.Device }

// Fingerprint is every filter, in order.
func (s Spec) Fingerprint() string {
	var words []string
	for _, r := range s.rules() {
		to := s.To
		if r.stays {
			to = ""
		}
		words = append(words, r.text(to, s.Copy))
	}
	return strings.Join(words, ", ")
}

// Commands implements resource.Spec.
func (s Spec) Commands(ns string) []resource.Command {
	out := []resource.Command{resource.TC(ns, "qdisc", "add", "dev", s.Device, "clsact")}
	for _, r := range s.rules() {
		args := []string{"filter", "add", "dev", s.Device, "ingress", "protocol", r.name, "prio", fmt.Sprint(r.priority), "u32"}
		for _, w := range r.words {
			args = append(args, "match", "u32", fmt.Sprintf("0x%08x", w.Val), fmt.Sprintf("0x%08x", w.Mask), "at", fmt.Sprint(w.Off))
		}
		if r.stays {
			args = append(args, "flowid", ":1")
		} else {
			args = append(args, "action", "mirred", "egress", map[bool]string{false: "redirect", true: "mirror"}[s.Copy], "dev", s.To)
		}
		out = append(out, resource.TC(ns, args...))
	}
	return out
}

// Counts is what a redirection did with packets.
type Counts struct {
	// Packets that came in to be passed on.
	Packets uint64
	// Lost are those of them that the other device did not take, because it was down,
	// nobody read it, or its queue was full.
	Lost uint64
}

// Count reads what the redirection of an interface counted.
func Count(p resource.Place, s Spec) (Counts, error) {
	var c Counts
	dev, err := p.Device(s.Device)
	if err != nil {
		return c, err
	}
	filters, err := p.FilterList(dev, netlink.HANDLE_MIN_INGRESS)
	if err != nil {
		return c, fmt.Errorf("read counters of %s in namespace %q: %w", s.Device, p.Ref, err)
	}
	for _, f := range filters {
		for _, a := range mirrors(f) {
			if n := a.Statistics; n != nil && n.Basic != nil && n.Queue != nil {
				c.Packets += uint64(n.Basic.Packets)
				c.Lost += uint64(n.Queue.Overlimits)
			}
		}
	}
	return c, nil
}

// Kind makes redirections.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	list, err := p.Disciplines()
	if err != nil {
		return nil, err
	}
	var found []resource.Observed
	for _, q := range list {
		if q.Attrs().Parent != netlink.HANDLE_CLSACT {
			continue
		}
		text, err := observe(p, q.Attrs().LinkIndex)
		if err != nil {
			return nil, err
		}
		if text != "" {
			found = append(found, resource.Observed{Key: q.Device, Fingerprint: text})
		}
	}
	return found, nil
}

// observe writes down the filters of an interface that are ours.
func observe(p resource.Place, index int) (string, error) {
	names, err := p.Links()
	if err != nil {
		return "", err
	}
	filters, err := own(p, index)
	if err != nil {
		return "", err
	}
	var words []string
	for _, f := range filters {
		words = append(words, describe(f, names))
	}
	return strings.Join(words, ", "), nil
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	for _, c := range changes {
		dev, err := p.Device(c.Key)
		if err != nil && c.Op == resource.Delete {
			continue // gone with its interface
		}
		if err == nil {
			err = apply(p, dev.Attrs().Index, c)
		}
		if err != nil {
			return fmt.Errorf("redirect what comes in by %s of namespace %q: %w", c.Key, p.Ref, err)
		}
	}
	return nil
}

func apply(p resource.Place, index int, c resource.Change) error {
	if err := remove(p, index); err != nil || c.Op == resource.Delete {
		return err
	}
	spec := c.Spec.(Spec)
	to, err := p.Device(spec.To)
	if err != nil {
		return err
	}
	if err := p.QdiscAdd(clsact(index)); err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	for _, r := range spec.rules() {
		if err := p.FilterAdd(r.filter(index, to.Attrs().Index, spec.Copy)); err != nil {
			return err
		}
	}
	return nil
}

func clsact(index int) netlink.Qdisc {
	return &netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{
		LinkIndex: index, Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT,
	}}
}

// remove takes the filters away that are ours.
func remove(p resource.Place, index int) error {
	filters, err := own(p, index)
	if err != nil {
		return err
	}
	for _, f := range filters {
		if err := p.FilterDel(whole(f)); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return nil
}

package redirect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// rule is one filter: packets of which each of these words, under its mask, is the value.
type rule struct {
	// priority is also how a filter of ours is known.
	priority uint16
	protocol uint16
	name     string
	words    []nl.TcU32Key
	// stays leaves the packets where they are.
	stays bool
}

// Destinations of the link alone: 224.0.0.0/3 is all multicast and above; fe00::/7 has
// the link-local addresses and multicast (RFC 4291 §2.4).
var rules = []rule{
	{7801, unix.ETH_P_IP, "ip", []nl.TcU32Key{{Off: 16, Val: 0xe0000000, Mask: 0xe0000000}}, true},
	{7802, unix.ETH_P_IP, "ip", []nl.TcU32Key{{}}, false},
	{7803, unix.ETH_P_IPV6, "ipv6", []nl.TcU32Key{{Off: 24, Val: 0xfe000000, Mask: 0xfe000000}}, true},
	{7804, unix.ETH_P_IPV6, "ipv6", []nl.TcU32Key{{}}, false},
}

// rules of a redirection: those of the families that its packets have. What matches none goes on.
func (s Spec) rules() (all []rule) {
	for _, r := range rules {
		if !r.has(s.Source) || !r.has(s.Destination) {
			continue
		}
		if !r.stays {
			r.words = r.ends(s)
		}
		all = append(all, r)
	}
	return all
}

// has tells whether packets of a prefix are of the rule's family.
func (r rule) has(p netip.Prefix) bool {
	return !p.IsValid() || p.Addr().Is4() == (r.protocol == unix.ETH_P_IP)
}

// ends are the words of the addresses that a redirection asks for; one that is any at all if it asks for none.
func (r rule) ends(s Spec) (all []nl.TcU32Key) {
	source, destination := int32(12), int32(16)
	if r.protocol == unix.ETH_P_IPV6 {
		source, destination = 8, 24
	}
	all = append(words(s.Source, source), words(s.Destination, destination)...)
	if len(all) == 0 {
		return r.words
	}
	return slices.Clip(all) // netlink sends what is behind the last, too
}

// words of a prefix's addresses, which begin at an offset.
func words(p netip.Prefix, offset int32) (all []nl.TcU32Key) {
	if !p.IsValid() {
		return nil
	}
	address := p.Masked().Addr().AsSlice()
	for left := p.Bits(); left > 0; left -= 32 {
		all = append(all, nl.TcU32Key{Off: offset, Val: binary.BigEndian.Uint32(address), Mask: ^uint32(0) << (32 - min(left, 32))})
		address, offset = address[4:], offset+4
	}
	return all
}

// text is the rule as a fingerprint has it; to is empty where packets stay.
func (r rule) text(to string, copied bool) string {
	switch {
	case to == "":
		to = "stays"
	case copied:
		to = "is copied to " + to
	default:
		to = "goes to " + to
	}
	var what []string
	for _, w := range r.words {
		what = append(what, fmt.Sprintf("%08x/%08x at %d", w.Val, w.Mask, w.Off))
	}
	return fmt.Sprintf("%d: %04x %s %s", r.priority, r.protocol, strings.Join(what, " and "), to)
}

func (r rule) filter(index, to int, copied bool) netlink.Filter {
	f := &netlink.U32{
		FilterAttrs: netlink.FilterAttrs{LinkIndex: index, Parent: netlink.HANDLE_MIN_INGRESS, Priority: r.priority, Protocol: r.protocol},
		Sel:         &nl.TcU32Sel{Flags: nl.TC_U32_TERMINAL, Keys: r.words},
	}
	if r.stays {
		f.ClassId = netlink.MakeHandle(0, 1)
		return f
	}
	a := netlink.NewMirredAction(to)
	a.MirredAction = netlink.TCA_EGRESS_REDIR
	if copied {
		a.MirredAction, a.Attrs().Action = netlink.TCA_EGRESS_MIRROR, netlink.TC_ACT_PIPE
	}
	f.Actions = []netlink.Action{a}
	return f
}

// own lists the filters of an interface that are ours, in order.
func own(p resource.Place, index int) ([]*netlink.U32, error) {
	dev := &netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: index}}
	all, err := p.FilterList(dev, netlink.HANDLE_MIN_INGRESS)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		return nil, nil // no clsact, so no filters
	}
	if err != nil {
		return nil, fmt.Errorf("list filters in namespace %q: %w", p.Ref, err)
	}
	var mine []*netlink.U32
	for _, f := range all {
		u, ok := f.(*netlink.U32)
		if ok && u.Sel != nil && slices.ContainsFunc(rules, func(r rule) bool { return r.priority == u.Priority }) {
			mine = append(mine, u)
		}
	}
	slices.SortFunc(mine, func(a, b *netlink.U32) int { return int(a.Priority) - int(b.Priority) })
	return mine, nil
}

// whole stands for all that has a filter's priority: without a handle the kernel
// removes it with its table.
func whole(f *netlink.U32) netlink.Filter {
	return &netlink.U32{FilterAttrs: netlink.FilterAttrs{
		LinkIndex: f.LinkIndex, Parent: netlink.HANDLE_MIN_INGRESS, Priority: f.Priority, Protocol: f.Protocol,
	}}
}

// describe is what was found, in the words of [rule.text].
func describe(f *netlink.U32, links []netlink.Link) string {
	r := rule{priority: f.Priority, protocol: f.Protocol}
	if f.Sel != nil {
		r.words = f.Sel.Keys
	}
	to, copied := "", false
	for _, a := range mirrors(f) {
		to, copied = "interface that is gone", a.MirredAction == netlink.TCA_EGRESS_MIRROR
		for _, l := range links {
			if l.Attrs().Index == a.Ifindex {
				to = l.Attrs().Name
			}
		}
	}
	return r.text(to, copied)
}

// mirrors are a filter's actions that pass packets on.
func mirrors(f netlink.Filter) []*netlink.MirredAction {
	u, ok := f.(*netlink.U32)
	if !ok {
		return nil
	}
	var out []*netlink.MirredAction
	for _, a := range u.Actions {
		if m, ok := a.(*netlink.MirredAction); ok {
			out = append(out, m)
		}
	}
	return out
}

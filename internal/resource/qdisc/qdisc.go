// Package qdisc makes queueing disciplines: HTB with its classes, TBF and netem.
package qdisc

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// KindName of queueing disciplines in a plan.
const KindName = "qdisc"

// The disciplines.
const (
	HTB = "htb"
	TBF = "tbf"
)

// Major is the number of the root discipline; classes are Major:Minor.
const Major = 1

// Spec of the root discipline of one interface.
type Spec struct {
	Device     string `json:"device"`
	Discipline string `json:"discipline"`
	// Classes of an HTB, of which the one named Default takes what no filter
	// directs elsewhere. TBF has exactly one.
	Classes []Class `json:"classes"`
	Default uint16  `json:"default,omitempty"`
	// Impair is what a netem does; nil for others.
	Impair *Impair `json:"impair,omitempty"`
}

// Class is a rate with the burst that may exceed it.
type Class struct {
	Minor uint16 `json:"minor"`
	// Parent is the minor number of the class it borrows from; 0 is the root.
	Parent uint16 `json:"parent,omitempty"`
	// RateBps and CeilBps are in bits per second.
	RateBps uint64 `json:"rate_bps"`
	CeilBps uint64 `json:"ceil_bps"`
	// BurstBytes may leave at once beyond the rate and CeilBurstBytes beyond the
	// ceiling, see [Burst]; LimitBytes is the queue of a TBF.
	BurstBytes     uint64 `json:"burst_bytes"`
	CeilBurstBytes uint64 `json:"ceil_burst_bytes,omitempty"`
	LimitBytes     uint32 `json:"limit_bytes,omitempty"`
	Priority       uint32 `json:"priority,omitempty"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the interface.
func (s Spec) Key() string { return s.Device }

// Fingerprint is the discipline with its classes.
func (s Spec) Fingerprint() string {
	if s.Impair != nil {
		return describe(s.Impair.netem(netlink.QdiscAttrs{}))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s default=%d", s.Discipline, s.Default)
	for _, c := range s.Classes {
		fmt.Fprintf(&b, " %d<%d rate=%d ceil=%d burst=%d/%d limit=%d prio=%d", c.Minor, c.Parent, c.rate()*8, c.ceil()*8, c.BurstBytes, c.CeilBurstBytes, c.LimitBytes, c.Priority)
	}
	return b.String()
}

// rate is in bytes per second, as the kernel keeps it.
func (c Class) rate() uint64 { return whole(c.RateBps / 8) }

func (c Class) ceil() uint64 { return whole(c.CeilBps / 8) }

// whole avoids the rates that HTB takes for none: those whose lower 32 bits are 0.
func whole(rate uint64) uint64 {
	if uint32(rate) == 0 {
		return rate + 1
	}
	return rate
}

// Commands implements resource.Spec. tc(8) takes no burst of 4 GiB.
func (s Spec) Commands(ns string) []resource.Command {
	if slices.ContainsFunc(s.Classes, func(c Class) bool { return max(c.BurstBytes, c.CeilBurstBytes) > math.MaxUint32 }) {
		return nil
	}
	root := []string{"qdisc", "replace", "dev", s.Device, "root", "handle", fmt.Sprintf("%d:", Major), s.Discipline}
	if s.Impair != nil {
		return []resource.Command{s.Impair.command(ns, root)}
	}
	if s.Discipline == TBF {
		c := s.Classes[0]
		return []resource.Command{resource.TC(ns, append(root, "rate", bits(c.rate()),
			"burst", fmt.Sprint(c.BurstBytes), "limit", fmt.Sprint(c.LimitBytes))...)}
	}
	out := []resource.Command{resource.TC(ns, append(root, "default", fmt.Sprintf("%x", s.Default))...)}
	for _, c := range s.Classes {
		out = append(out, resource.TC(ns, "class", "replace", "dev", s.Device, "parent", fmt.Sprintf("%d:%x", Major, c.Parent),
			"classid", fmt.Sprintf("%d:%x", Major, c.Minor), "htb", "prio", fmt.Sprint(c.Priority), "rate", bits(c.rate()), "ceil", bits(c.ceil()),
			"burst", fmt.Sprint(c.BurstBytes), "cburst", fmt.Sprint(c.CeilBurstBytes), "quantum", fmt.Sprint(c.quantum())))
	}
	return out
}

func bits(bytesPerSecond uint64) string { return fmt.Sprintf("%dbit", bytesPerSecond*8) }

// quantum is what a class sends before its siblings' turn: what the kernel would
// choose, within the bounds beyond which it complains in its log.
func (c Class) quantum() uint32 { return uint32(max(1000, min(c.rate()/10, 200_000))) }

// Kind makes queueing disciplines.
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
		if q.Attrs().Parent != netlink.HANDLE_ROOT || q.Attrs().Handle != netlink.MakeHandle(Major, 0) {
			continue
		}
		text, err := observe(p, q.Device, q.Qdisc)
		if err != nil {
			return nil, err
		}
		found = append(found, resource.Observed{Key: q.Device, Fingerprint: text})
	}
	return found, nil
}

// observe is the fingerprint of what was found.
func observe(p resource.Place, device string, q netlink.Qdisc) (string, error) {
	if n, is := q.(*netlink.Netem); is {
		return describe(n), nil
	}
	s, err := rates(p, device, q)
	return s.Fingerprint(), err
}

func rates(p resource.Place, device string, q netlink.Qdisc) (Spec, error) {
	s := Spec{Device: device, Discipline: q.Type()}
	switch q := q.(type) {
	case *netlink.Tbf:
		s.Classes = []Class{{Minor: 1, RateBps: q.Rate * 8, CeilBps: q.Rate * 8, BurstBytes: fromTicks(q.Rate, q.Buffer), LimitBytes: q.Limit}}
	case *netlink.Htb:
		s.Default = uint16(q.Defcls)
		dev := &netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: q.LinkIndex}}
		classes, err := p.ClassList(dev, netlink.HANDLE_NONE)
		if err != nil {
			return s, err
		}
		for _, c := range classes {
			if h, ok := c.(*netlink.HtbClass); ok {
				s.Classes = append(s.Classes, Class{Minor: minor(h.Handle), Parent: minor(h.Parent), RateBps: h.Rate * 8,
					CeilBps: h.Ceil * 8, BurstBytes: fromTicks(h.Rate, h.Buffer), CeilBurstBytes: fromTicks(h.Ceil, h.Cbuffer), Priority: h.Prio})
			}
		}
		// The kernel lists them in the order of its hash table.
		slices.SortFunc(s.Classes, func(a, b Class) int { return int(a.Minor) - int(b.Minor) })
	}
	return s, nil
}

// minor number of a handle; 0 for that of no class.
func minor(handle uint32) uint16 {
	if handle == netlink.HANDLE_ROOT {
		return 0
	}
	_, n := netlink.MajorMinor(handle)
	return n
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	for _, c := range changes {
		dev, err := p.Device(c.Key)
		if err != nil && c.Op == resource.Delete {
			continue // gone with its interface
		}
		if err != nil {
			return err
		}
		attrs := netlink.QdiscAttrs{LinkIndex: dev.Attrs().Index, Handle: netlink.MakeHandle(Major, 0), Parent: netlink.HANDLE_ROOT}
		if s, is := c.Spec.(Spec); is && c.Op == resource.Update && alter(p, dev, attrs, s) {
			continue
		}
		err = p.QdiscDel(&netlink.GenericQdisc{QdiscAttrs: attrs})
		if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("remove queueing discipline of %s in namespace %q: %w", c.Key, p.Ref, err)
		}
		if c.Op == resource.Delete {
			continue
		}
		if err := create(p, attrs, c.Spec.(Spec)); err != nil {
			return fmt.Errorf("shape %s of namespace %q with %s: %w", c.Key, p.Ref, c.Spec.(Spec).Discipline, err)
		}
	}
	return nil
}

// alter what is there, whose packets wait on, and tell whether it is as it should be then: the kernel changes no HTB's default, takes no class away from
// one whose packets have nowhere to go, and leaves a netem what it is told nothing of.
func alter(p resource.Place, dev netlink.Link, attrs netlink.QdiscAttrs, s Spec) bool {
	there := func() (netlink.Qdisc, string) {
		list, err := p.QdiscList(dev)
		i := slices.IndexFunc(list, func(q netlink.Qdisc) bool {
			return q.Attrs().Parent == netlink.HANDLE_ROOT && q.Attrs().Handle == attrs.Handle
		})
		if err != nil || i < 0 {
			return nil, ""
		}
		text, _ := observe(p, s.Device, list[i])
		return list[i], text
	}
	q, _ := there()
	var err error
	switch q := q.(type) {
	case *netlink.Netem:
		if s.Impair == nil {
			return false
		}
		err = create(p, attrs, s)
	case *netlink.Tbf:
		if s.Discipline != TBF {
			return false
		}
		err = create(p, attrs, s)
	case *netlink.Htb:
		if s.Discipline != HTB || uint16(q.Defcls) != s.Default {
			return false
		}
		err = classes(p, attrs, s)
	default:
		return false
	}
	_, text := there()
	return err == nil && text == s.Fingerprint()
}

func create(p resource.Place, attrs netlink.QdiscAttrs, s Spec) error {
	if s.Impair != nil {
		return p.QdiscReplace(s.Impair.netem(attrs))
	}
	if s.Discipline == TBF {
		c := s.Classes[0]
		return p.QdiscReplace(&netlink.Tbf{QdiscAttrs: attrs, Rate: c.rate(), Limit: c.LimitBytes, Buffer: ticks(c.rate(), c.BurstBytes)})
	}
	htb := netlink.NewHtb(attrs)
	htb.Defcls = uint32(s.Default)
	if err := p.QdiscReplace(htb); err != nil {
		return err
	}
	return classes(p, attrs, s)
}

// classes of an HTB.
func classes(p resource.Place, attrs netlink.QdiscAttrs, s Spec) error {
	for _, c := range s.Classes {
		class := &netlink.HtbClass{
			ClassAttrs: netlink.ClassAttrs{
				LinkIndex: attrs.LinkIndex, Parent: netlink.MakeHandle(Major, c.Parent), Handle: netlink.MakeHandle(Major, c.Minor),
			},
			Rate: c.rate(), Ceil: c.ceil(), Prio: c.Priority, Quantum: c.quantum(),
			Buffer: ticks(c.rate(), c.BurstBytes), Cbuffer: ticks(c.ceil(), c.CeilBurstBytes),
		}
		if err := p.ClassReplace(class); err != nil {
			return err
		}
	}
	return nil
}

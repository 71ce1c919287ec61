// Package qdisc makes queueing disciplines: HTB with its classes, and TBF.
package qdisc

import (
	"errors"
	"fmt"
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
}

// Class is a rate with the burst that may exceed it.
type Class struct {
	Minor uint16 `json:"minor"`
	// Parent is the minor number of the class it borrows from; 0 is the root.
	Parent uint16 `json:"parent,omitempty"`
	// RateBps and CeilBps are in bits per second.
	RateBps uint64 `json:"rate_bps"`
	CeilBps uint64 `json:"ceil_bps"`
	// BurstBytes may leave at once; LimitBytes is the queue of a TBF.
	BurstBytes uint32 `json:"burst_bytes"`
	LimitBytes uint32 `json:"limit_bytes,omitempty"`
	Priority   uint32 `json:"priority,omitempty"`
	// observed classes carry the kernel's ticks in BurstBytes.
	observed bool
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the interface.
func (s Spec) Key() string { return s.Device }

// Fingerprint is the discipline with its classes' rates in bytes per second and
// bursts in the kernel's ticks, as it keeps and returns them.
func (s Spec) Fingerprint() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s default=%d", s.Discipline, s.Default)
	for _, c := range s.Classes {
		fmt.Fprintf(&b, " %d<%d:%d/%d+%d", c.Minor, c.Parent, c.RateBps/8, c.CeilBps/8, c.ticks())
		if c.Priority > 0 {
			fmt.Fprintf(&b, "^%d", c.Priority)
		}
	}
	return b.String()
}

func (c Class) ticks() uint32 {
	if c.observed {
		return c.BurstBytes
	}
	return netlink.Xmittime(c.RateBps/8, c.BurstBytes)
}

// Commands implements resource.Spec.
func (s Spec) Commands(ns string) []resource.Command {
	root := []string{"qdisc", "replace", "dev", s.Device, "root", "handle", fmt.Sprintf("%d:", Major), s.Discipline}
	if s.Discipline == TBF {
		c := s.Classes[0]
		return []resource.Command{resource.TC(ns, append(root, "rate", bits(c.RateBps),
			"burst", fmt.Sprint(c.BurstBytes), "limit", fmt.Sprint(c.LimitBytes))...)}
	}
	out := []resource.Command{resource.TC(ns, append(root, "default", fmt.Sprintf("%x", s.Default))...)}
	for _, c := range s.Classes {
		out = append(out, resource.TC(ns, "class", "replace", "dev", s.Device, "parent", fmt.Sprintf("%d:%x", Major, c.Parent),
			"classid", fmt.Sprintf("%d:%x", Major, c.Minor), "htb", "rate", bits(c.RateBps), "ceil", bits(c.CeilBps),
			"burst", fmt.Sprint(c.BurstBytes), "cburst", fmt.Sprint(c.BurstBytes), "prio", fmt.Sprint(c.Priority)))
	}
	return out
}

func bits(bps uint64) string { return fmt.Sprintf("%dbit", bps) }

// Kind makes queueing disciplines.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	mine, err := p.Mine()
	if err != nil || len(mine) == 0 {
		return nil, err
	}
	list, err := p.QdiscList(nil)
	if err != nil {
		return nil, fmt.Errorf("list queueing disciplines of namespace %q: %w", p.Ref, err)
	}
	var found []resource.Observed
	for _, q := range list {
		name, ours := mine[q.Attrs().LinkIndex]
		if !ours || q.Attrs().Parent != netlink.HANDLE_ROOT || q.Attrs().Handle != netlink.MakeHandle(Major, 0) {
			continue
		}
		s, err := observe(p, name, q)
		if err != nil {
			return nil, err
		}
		found = append(found, resource.Observed{Key: name, Fingerprint: s.Fingerprint()})
	}
	return found, nil
}

func observe(p resource.Place, device string, q netlink.Qdisc) (Spec, error) {
	s := Spec{Device: device, Discipline: q.Type()}
	switch q := q.(type) {
	case *netlink.Tbf:
		s.Classes = []Class{{Minor: 1, RateBps: q.Rate * 8, CeilBps: q.Rate * 8, BurstBytes: q.Buffer, observed: true}}
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
					CeilBps: h.Ceil * 8, BurstBytes: h.Buffer, Priority: h.Prio, observed: true})
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
		if c.Op != resource.Create {
			err := p.QdiscDel(&netlink.GenericQdisc{QdiscAttrs: attrs})
			if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EINVAL) {
				return fmt.Errorf("remove queueing discipline of %s in namespace %q: %w", c.Key, p.Ref, err)
			}
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

func create(p resource.Place, attrs netlink.QdiscAttrs, s Spec) error {
	if s.Discipline == TBF {
		c := s.Classes[0]
		return p.QdiscReplace(&netlink.Tbf{QdiscAttrs: attrs, Rate: c.RateBps / 8, Limit: c.LimitBytes,
			Buffer: netlink.Xmittime(c.RateBps/8, c.BurstBytes)})
	}
	htb := netlink.NewHtb(attrs)
	htb.Defcls = uint32(s.Default)
	if err := p.QdiscReplace(htb); err != nil {
		return err
	}
	for _, c := range s.Classes {
		class := netlink.NewHtbClass(netlink.ClassAttrs{
			LinkIndex: attrs.LinkIndex, Parent: netlink.MakeHandle(Major, c.Parent), Handle: netlink.MakeHandle(Major, c.Minor),
		}, netlink.HtbClassAttrs{Rate: c.RateBps, Ceil: c.CeilBps, Buffer: c.BurstBytes, Cbuffer: c.BurstBytes, Prio: c.Priority})
		if err := p.ClassReplace(class); err != nil {
			return err
		}
	}
	return nil
}

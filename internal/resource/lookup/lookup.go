// Package lookup has packets that come in by an interface be routed by a table of their
// own and by no other, so that those of several owners in one namespace never meet.
package lookup

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/route"
)

// KindName of look-ups in a plan.
const KindName = "lookup"

// The rules' priorities: the table is asked, and what it does not know is unreachable.
const (
	asks    = 7800
	refuses = 7801
)

// Spec of the look-ups of an interface.
type Spec struct {
	Device string `json:"device"`
	Table  uint32 `json:"table"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the interface.
func (s Spec) Key() string { return s.Device }

// Fingerprint is the table, for as many rules as there are.
func (s Spec) Fingerprint() string { return fingerprint(len(s.rules()), s.Table) }

func fingerprint(rules int, table uint32) string {
	return fmt.Sprintf("%d rules, table %d", rules, table)
}

// Commands implements resource.Spec.
func (s Spec) Commands(ns string) []resource.Command {
	var all []resource.Command
	protocol := strconv.Itoa(route.Protocol)
	for _, family := range []string{"-4", "-6"} {
		all = append(all,
			resource.IP(ns, family, "rule", "add", "pref", strconv.Itoa(asks), "iif", s.Device, "lookup", strconv.FormatUint(uint64(s.Table), 10), "protocol", protocol),
			resource.IP(ns, family, "rule", "add", "pref", strconv.Itoa(refuses), "iif", s.Device, "unreachable", "protocol", protocol))
	}
	return all
}

// rules of the interface, of both families: what a chain has no addresses of is kept
// apart too.
func (s Spec) rules() []*netlink.Rule {
	var all []*netlink.Rule
	for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
		ask, refuse := netlink.NewRule(), netlink.NewRule()
		ask.Priority, ask.Table, ask.Type = asks, int(s.Table), unix.FR_ACT_TO_TBL
		refuse.Priority, refuse.Type = refuses, unix.FR_ACT_UNREACHABLE
		for _, r := range []*netlink.Rule{ask, refuse} {
			r.Family, r.IifName, r.Protocol = family, s.Device, route.Protocol
			all = append(all, r)
		}
	}
	return all
}

// Kind makes look-ups.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind. In its own namespaces an owner has no need of them.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	if namespace.Owns(p.Owner, p.Ref) {
		return nil, nil
	}
	mine, err := p.Mine()
	if err != nil || len(mine) == 0 {
		return nil, err
	}
	list, err := ours(p.Handle)
	if err != nil {
		return nil, err
	}
	var found []resource.Observed
	for _, device := range mine {
		rules, table := 0, uint32(0)
		for _, r := range list {
			if r.IifName == device {
				rules++
				if r.Priority == asks {
					table = uint32(r.Table)
				}
			}
		}
		if rules > 0 {
			found = append(found, resource.Observed{Key: device, Fingerprint: fingerprint(rules, table)})
		}
	}
	return found, nil
}

// ours are the rules that this package made in a namespace.
func ours(h *netns.Handle) ([]netlink.Rule, error) {
	list, err := h.RuleListFiltered(netlink.FAMILY_ALL, nil, 0)
	if err != nil {
		return nil, fmt.Errorf("list routing rules of namespace %q: %w", h.Ref, err)
	}
	return slices.DeleteFunc(list, func(r netlink.Rule) bool { return r.Protocol != route.Protocol || r.IifName == "" }), nil
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	return resource.Make(changes,
		func(key string) error { return remove(p.Handle, func(device string) bool { return device == key }) },
		func(s Spec) error { return set(p, s) })
}

func set(p resource.Place, s Spec) error {
	if err := remove(p.Handle, func(device string) bool { return device == s.Device }); err != nil {
		return err
	}
	for _, r := range s.rules() {
		if err := p.RuleAdd(r); err != nil {
			return fmt.Errorf("route what comes in by %s of namespace %q by table %d: %w", s.Device, p.Ref, s.Table, err)
		}
	}
	return nil
}

// remove the rules of certain interfaces.
func remove(h *netns.Handle, of func(device string) bool) error {
	list, err := ours(h)
	if err != nil {
		return err
	}
	for _, r := range list {
		if !of(r.IifName) {
			continue
		}
		if err := h.RuleDel(&r); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("remove the routing rule for %s of namespace %q: %w", r.IifName, h.Ref, err)
		}
	}
	return nil
}

// RemoveAll removes the rules of an owner's interfaces, and those of interfaces that are
// gone.
func RemoveAll(h *netns.Handle, owner string) error {
	list, err := ours(h)
	if err != nil || len(list) == 0 {
		return err
	}
	links, err := h.LinkList()
	if err != nil {
		return err
	}
	others := map[string]bool{}
	for _, l := range links {
		if a := l.Attrs(); !resource.Owned(a.Alias, owner) {
			others[a.Name] = true
		}
	}
	return remove(h, func(device string) bool { return !others[device] })
}

package link

import (
	"strings"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// aEnd tells whether an interface is the first end of one of the owner's pairs.
func aEnd(p resource.Place, l netlink.Link) bool {
	alias := l.Attrs().Alias
	if !resource.Owned(alias, p.Owner) {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(alias, resource.Mark(p.Owner)), "=")
	node, device, _ := strings.Cut(first, ":")
	if _, own, ok := namespace.Split(p.Ref); ok && own != node {
		return false
	}
	// A container of another runtime's is the chain's as much, and names its interfaces as those of others are named.
	node, _, _ = strings.Cut(node, "@")
	if _, own, ok := namespace.SplitBrought(p.Ref); ok && own != node {
		return false
	}
	return device == l.Attrs().Name // in a namespace of others the name is nobody else's
}

// Mine lists the owner's interfaces of a namespace, both kinds of end, by index.
func Mine(h *netns.Handle, owner string) (map[int]string, error) {
	return resource.At(h, owner).Mine()
}

// Behind tells which node and interface each of the owner's interfaces of a namespace leads to, by its name, of those that
// are the second end of a pair.
func Behind(h *netns.Handle, owner string) (map[string]End, error) {
	links, err := h.LinkList()
	if err != nil {
		return nil, err
	}
	ends := map[string]End{}
	for _, l := range links {
		pair, is := strings.CutPrefix(l.Attrs().Alias, resource.Mark(owner))
		if first, second, _ := strings.Cut(pair, "="); is && second != "" {
			place, device, _ := strings.Cut(first, ":")
			node, _, _ := strings.Cut(place, "@")
			ends[l.Attrs().Name] = End{Node: node, Device: device}
		}
	}
	return ends, nil
}

// Indexes gives every interface's index by name.
func Indexes(h *netns.Handle) (map[string]int, error) {
	links, err := h.LinkList()
	if err != nil {
		return nil, err
	}
	all := map[string]int{}
	for _, l := range links {
		all[l.Attrs().Name] = l.Attrs().Index
	}
	return all, nil
}

// RemoveAll removes every interface that carries the owner's mark from a
// namespace, and with each its peer.
func RemoveAll(h *netns.Handle, owner string) error {
	links, err := h.LinkList()
	if err != nil {
		return err
	}
	for _, l := range links {
		if !resource.Owned(l.Attrs().Alias, owner) {
			continue
		}
		if err := remove(h, l); err != nil {
			return err
		}
	}
	return nil
}

// Owners lists who has interfaces in a namespace.
func Owners(h *netns.Handle) ([]string, error) {
	links, err := h.LinkList()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var owners []string
	for _, l := range links {
		rest, ok := strings.CutPrefix(l.Attrs().Alias, "nfchain ")
		if owner, _, marked := strings.Cut(rest, " "); ok && marked && !seen[owner] {
			seen[owner] = true
			owners = append(owners, owner)
		}
	}
	return owners, nil
}

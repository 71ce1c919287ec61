package link

import (
	"strings"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// aEnd tells whether the alias names this interface of this namespace as the
// pair's first end.
func aEnd(alias, owner, ref, name string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(alias, resource.Mark(owner)), "=")
	node, device, _ := strings.Cut(first, ":")
	if _, own, ok := namespace.Split(ref); ok && own != node {
		return false
	}
	return device == name // in a namespace of others the name is nobody else's
}

// Mine lists the owner's interfaces of a namespace, both kinds of end, by index.
// Addresses, routes and neighbours are looked for on these alone, so that in a
// namespace that is not the chain's own nothing else is touched.
func Mine(h *netns.Handle, owner string) (map[int]string, error) {
	links, err := h.LinkList()
	if err != nil {
		return nil, err
	}
	mine := map[int]string{}
	for _, l := range links {
		if resource.Owned(l.Attrs().Alias, owner) {
			mine[l.Attrs().Index] = l.Attrs().Name
		}
	}
	return mine, nil
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
	mine, err := Mine(h, owner)
	if err != nil {
		return err
	}
	for _, name := range mine {
		if err := remove(h, name); err != nil {
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

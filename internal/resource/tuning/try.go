package tuning

import (
	"fmt"
	"slices"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
)

// Try sets what is asked for in a namespace that nobody finds, and tells what the kernel
// refuses: at a veth pair like those that links are made of, and, for [Loopback], at that
// namespace. What rests on routes is left out.
func Try(specs []Spec) error {
	if len(specs) == 0 {
		return nil
	}
	return netns.Aside(func(h *netns.Handle) error { return tryAll(h, specs) })
}

// tryAll tries what is alike once.
func tryAll(h *netns.Handle, specs []Spec) error {
	tried := map[string]bool{}
	for _, s := range specs {
		s.Settings = slices.DeleteFunc(slices.Clone(s.Settings), func(set Setting) bool {
			return slices.ContainsFunc(segment, func(k knob) bool { return k.name == set.Knob })
		})
		what := fmt.Sprint(s.Device == Loopback, s.Fingerprint())
		if tried[what] {
			continue
		}
		tried[what] = true
		if err := try(h, s); err != nil {
			return fmt.Errorf("tuning: %w", err)
		}
	}
	return nil
}

func try(h *netns.Handle, s Spec) error {
	if s.Device != Loopback {
		attrs := netlink.NewLinkAttrs()
		attrs.Name = s.Device
		veth := &netlink.Veth{LinkAttrs: attrs, PeerName: "nfchain-far"}
		if err := h.LinkAdd(veth); err != nil {
			return err
		}
		defer func() { _ = h.LinkDel(veth) }()
	}
	l, err := h.LinkByName(s.Device)
	if err != nil {
		return err
	}
	if err := h.LinkSetUp(l); err != nil {
		return err
	}
	at := &port{Place: resource.At(h, ""), link: l}
	defer at.close()
	return at.set(s)
}

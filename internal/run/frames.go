package run

import (
	"fmt"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// What surrounds an IP packet in a frame, in bytes: the header, the check sequence, a
// VLAN's tag (IEEE 802.3 §3.1.1, 802.1Q §9.6).
const (
	aroundPacket = 14 + 4
	aroundTag    = 4
)

// The headers of IP (RFC 791 §3.1, RFC 8200 §3) and UDP (RFC 768), in bytes.
const (
	ipv4Header = 20
	ipv6Header = 40
	udpHeader  = 8
)

// fits tells whether the frames of a condition go through a chain's links.
func fits(spec api.ChainSpec, c trial.Condition, t traffic.Framer) error {
	frame, err := longestFrame(spec, c, t)
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrInput)
	}
	room := spec.MTU + around(c)
	if frame > room {
		return fmt.Errorf("a frame of %d bytes does not fit through an MTU of %d, which takes %d: %w", frame, spec.MTU, room, ErrInput)
	}
	return nil
}

// around a packet of a condition, in bytes.
func around(c trial.Condition) int {
	if c.VLAN > 0 {
		return aroundPacket + aroundTag
	}
	return aroundPacket
}

// longestFrame of a condition, in bytes with the check sequence; 0 where the tool takes its
// smallest.
func longestFrame(spec api.ChainSpec, c trial.Condition, t traffic.Framer) (int, error) {
	switch {
	case c.IMIX != "":
		m, mixes := t.(traffic.Mixer)
		if !mixes {
			return 0, fmt.Errorf("%s sends frames of one size; leave imix out, or take another tool", t.Name())
		}
		sizes, err := m.Mix(c.IMIX)
		if err != nil {
			return 0, err
		}
		return slices.Max(sizes), nil
	case c.FrameSize > 0:
		return c.FrameSize, nil
	case c.PayloadSize > 0:
		return int(c.PayloadSize) + headers(spec, c) + around(c), nil
	}
	return 0, nil
}

// headers within a packet of a condition, whose IP version is the chain's where it says none.
func headers(spec api.ChainSpec, c trial.Condition) int {
	if c.IPVersion == 6 || c.IPVersion == 0 && spec.Addresses.IPv4 == api.None {
		return ipv6Header + udpHeader
	}
	return ipv4Header + udpHeader
}

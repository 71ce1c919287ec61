package pass

import (
	"slices"

	"nfchain.dev/nfchain/bpf/framestest"
)

// A frame is made of parts, from the outside in.
func frame(parts ...[]byte) []byte { return slices.Concat(parts...) }

var (
	ether          = framestest.Ether
	ipv4           = framestest.IPv4
	ipv6           = framestest.IPv6
	ports          = framestest.Ports
	extension      = framestest.Extension
	fragmentHeader = framestest.Fragment
	total          = framestest.Sum
	ipOf           = framestest.IP
	sound          = framestest.Sound
)

const (
	typeIPv4 = framestest.TypeIPv4
	typeARP  = framestest.TypeARP
	typeIPv6 = framestest.TypeIPv6
)

package trace

import (
	"bytes"
	"net/netip"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// TestSegments: the mark is where bpf/trace/trace.c looks for it, and sums are right, of either version of IP.
func TestSegments(t *testing.T) {
	payload := make([]byte, MinPayload)
	stamp(payload, newSignature(), 7)
	for protocol, want := range map[api.Protocol]struct {
		behind int
		summed bool
	}{
		"tcp": {20, true}, "udp": {8, true}, "udplite": {8, true}, "icmp": {8, true}, "dccp": {20, true}, "sctp": {36, false}, "gre": {8, false}, "89": {8, false},
	} {
		for _, a := range []string{"192.0.2.1", "2001:db8::1"} {
			end := netip.AddrPortFrom(netip.MustParseAddr(a), 4433)
			f := Flow{Protocol: protocol, From: end, To: end}
			b := f.segment(payload)
			if !bytes.HasPrefix(b[want.behind:], payload) || protocol.Ported() != bytes.Equal(b[:4], f.ports()) {
				t.Errorf("%s: the mark is not behind %d bytes: %x", f, want.behind, b)
			}
			if sum := f.checksum(b); want.summed && sum != 0 && sum != 0xffff {
				t.Errorf("%s: its sum is off by %#x: %x", f, sum, b)
			}
			if protocol == "dccp" && int(b[4])*4 != want.behind {
				t.Errorf("%s: its data are %d words behind, of %d bytes", f, b[4], want.behind)
			}
		}
	}
}

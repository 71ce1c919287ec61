package steer_test

import (
	"slices"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/bpf/framestest"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// TestPacketsOfAnyProtocol go by the rules of their protocol, there and back, and by ports where it has them. Of IPv6 that is the one
// behind extension headers.
func TestPacketsOfAnyProtocol(t *testing.T) {
	const gre, esp, ah, ospf, dccp, udplite, options, reserved = 47, 50, 51, 89, 33, 136, 60, 255
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		d.classify(t, classified(hook, steer.Choice{Rules: []steer.Rule{
			{Name: "gre", Path: "a", Protocol: "gre"}, {Name: "esp", Path: "a b", Protocol: "esp"}, {Name: "ah", Path: "a", Protocol: "ah"},
			{Name: "ospf", Path: "a", Protocol: "89"}, {Name: "reserved", Path: "a b", Protocol: "255"},
			{Name: "dccp", Path: "a", Protocol: "dccp", DestinationPorts: []api.PortRange{{First: 80, Last: 80}}},
			{Name: "udplite", Path: "a", Protocol: "udplite", DestinationPorts: []api.PortRange{{First: 81, Last: 81}}},
		}}, waysTo("a", "a b", ""))...)
		for i, c := range []struct {
			protocol byte
			behind   []byte
			four     int
			six      int
		}{
			{gre, nil, 1, 1}, {esp, nil, 2, 2}, {ospf, nil, 1, 1}, {reserved, nil, 2, 2}, {dccp, nil, 1, 1}, {udplite, nil, 3, 3}, {103, nil, 3, 3},
			{ah, nil, 1, 3},
			{options, framestest.Extension(esp), 0, 2}, {options, framestest.Extension(103), 0, 3},
		} {
			for _, six := range []bool{false, true} {
				at, want := 14+9, c.four
				if six {
					at, want = 14+6, c.six
				}
				if want == 0 {
					continue
				}
				for _, back := range []bool{false, true, false} {
					d.number++
					packet := flow{id: uint16(i), six: six, back: back}.packet(d.number)
					packet[at] = c.protocol
					if six {
						packet = slices.Insert(packet, 14+40, c.behind...)
						packet[14+5] += byte(len(c.behind))
					}
					from := d.west
					if back {
						from = d.east
					}
					from.pass(t, packet, d.replicas[want-1])
				}
			}
		}
	})
}

package observe

import (
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// Captured in a namespace that had sent and received datagrams longer than its MTU,
// Linux 6.18.
const snmpText = `Ip: Forwarding DefaultTTL InReceives InHdrErrors ReasmReqds ReasmOKs ReasmFails FragOKs FragFails FragCreates OutTransmits
Ip: 2 64 988814 0 230 9 1 10 0 230 951471
Icmp: InMsgs FragCreates
Icmp: 4183 7
`

const snmp6Text = "Ip6InReceives\t10475\nIp6ReasmReqds\t4\nIp6ReasmOKs \t2\nIp6ReasmFails\t0\nIp6FragOKs\t3\nIp6FragCreates\t6\nIcmp6FragOKs\t99\nIp6FragFails\n"

func TestFragments(t *testing.T) {
	root := tree(t, map[string]string{"proc/thread-self/net/snmp": snmpText, "proc/thread-self/net/snmp6": snmp6Text})
	want := trial.FragmentCounts{Fragmented: 13, Created: 236, Received: 234, Reassembled: 11, Failed: 1}
	if got := Fragments(root); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	root = tree(t, map[string]string{"proc/thread-self/net/snmp": "Ip: FragOKs FragCreates\nIp: 1\n"})
	if got := Fragments(root); got != (trial.FragmentCounts{Fragmented: 1}) {
		t.Errorf("of a short line: %+v", got)
	}
}

func TestFragmentsSince(t *testing.T) {
	before := []trial.FragmentCounts{{Node: "client", Created: 10}, {Node: "gone", Created: 5}}
	after := []trial.FragmentCounts{{Node: "server", Received: 7}, {Node: "client", Created: 33, Failed: 1}}
	want := []trial.FragmentCounts{{Node: "server", Received: 7}, {Node: "client", Created: 23, Failed: 1}}
	if got := fragmentsSince(before, after); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

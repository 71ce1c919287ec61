package deploy_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// TestMirrorCopies what passes in its direction, whole, once, while it goes on; the tap
// sends nothing.
func TestMirrorCopies(t *testing.T) {
	needs(t)
	nstest.Require(t, feature.Redirect)
	const packets = 20
	for direction, want := range map[string][2]int{"both": {packets, packets}, "forward": {packets, 0}, "reverse": {0, packets}} {
		t.Run(direction, func(t *testing.T) {
			p := planned(t, nstest.Owner(t), spec(forward("a"), "{name: m, kind: mirror, direction: "+direction+"}", forward("b")))
			downAfter(t, p.Chain)
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			tap := namespace.Name(p.Chain, "m.tap")
			before, dropped := received(t, tap), nstest.Dropped(t)
			there, back := 0, 0
			for _, family := range []int{0, 1} {
				capture := listen(t, tap)
				there += carried(t, p.Client(), p.Server(), p.Server().West.Addresses[family], packets/2)
				back += carried(t, p.Server(), p.Client(), p.Client().East.Addresses[family], packets/2)
				seen := captured(t, capture, (want[0]+want[1])/2)
				if nstest.Amiss(t, seen["forward"], want[0]/2, dropped) || nstest.Amiss(t, seen["reverse"], want[1]/2, dropped) {
					t.Errorf("captured %v, want %v of each family", seen, want)
				}
			}
			if there != packets || back != packets {
				t.Errorf("%d and %d packets of %d arrived at the ends", there, back, packets)
			}
			after := received(t, tap)
			if got := after[0] - before[0]; nstest.Amiss(t, min(got, want[0]+want[1]), want[0]+want[1], dropped) || after[1] != 0 { // more where one was sent again
				t.Errorf("the tap counted %d packets, want %d, and sent %d", got, want[0]+want[1], after[1])
			}
		})
	}
}

// TestMirrorStaysQuiet: where somebody has the kernel speak to the tap, `up` ends it.
func TestMirrorStaysQuiet(t *testing.T) {
	needs(t)
	nstest.Require(t, feature.Redirect)
	p := planned(t, nstest.Owner(t), spec("{name: m, kind: mirror}"))
	downAfter(t, p.Chain)
	up(t, p)
	speaks := "ip netns exec " + namespace.Name(p.Chain, "m") + " sysctl -n net.ipv6.conf.tap0.disable_ipv6"
	sh(t, strings.Replace(speaks, "-n", "-qw", 1)+"=0")
	up(t, p)
	if got := sh(t, speaks); got != "1\n" {
		t.Errorf("disable_ipv6 of the tap's link is %s", got)
	}
	unchanged(t, p)
	crosses(t, p)
}

// TestMirrorGoes with its tap, and the function that takes its place has none.
func TestMirrorGoes(t *testing.T) {
	needs(t)
	nstest.Require(t, feature.Redirect)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	for _, functions := range [][]string{{"{name: m, kind: mirror}"}, {forward("m")}, {"{name: m, kind: mirror, direction: forward}"}} {
		p := planned(t, owner, spec(functions...))
		up(t, p)
		unchanged(t, p)
		crosses(t, p)
	}
	down(t, owner)
	names, err := netns.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if namespace.Owns(owner, name) {
			t.Errorf("%s is left", name)
		}
	}
}

// received and sent packets of the tap's interface.
func received(t *testing.T, tap string) [2]int {
	t.Helper()
	var counts [2]int
	out := sh(t, "ip netns exec "+tap+" sh -c 'cat /sys/class/net/eth0/statistics/rx_packets /sys/class/net/eth0/statistics/tx_packets'")
	if _, err := fmt.Sscan(out, &counts[0], &counts[1]); err != nil {
		t.Fatal(err)
	}
	return counts
}

// carried is how many datagrams of a node's arrive at another, one after the other.
func carried(t *testing.T, from, to plan.Node, address netip.Addr, n int) (arrived int) {
	t.Helper()
	for range n {
		if reaches(t, "udp", from.Namespace, to.Namespace, address, map[bool]uint16{true: toServer, false: toClient}[from.West == nil], long) {
			arrived++
		}
	}
	return arrived
}

// The ports that tell the directions of captured packets.
const toServer, toClient = 7001, 7002

// listen captures in a namespace.
func listen(t *testing.T, ns string) int {
	t.Helper()
	fd := -1
	inside(t, ns, func() (err error) {
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL})))
		return err
	})
	t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}

// datagramAt is where a frame has one.
func datagramAt(frame []byte) int {
	if len(frame) > 12 && frame[12] == 0x86 {
		return 14 + 40
	}
	return 14 + 20
}

// destinationPort of a datagram in a frame; 0 where the frame is too short for one.
func destinationPort(frame []byte) uint16 {
	at := datagramAt(frame)
	if len(frame) < at+4 {
		return 0
	}
	return binary.BigEndian.Uint16(frame[at+2:])
}

// tryIn a frame, of a question that was asked.
func tryIn(frame []byte) (try [5]byte) {
	if at := datagramAt(frame) + 8; len(frame) >= at+len(try) {
		copy(try[:], frame[at:])
	}
	return try
}

// receive what comes in at a socket that has patience for a while alone: the kernel takes up no such wait again which a signal of the
// runtime's own ended.
func receive(fd int, buffer []byte) (n int, from unix.Sockaddr, err error) {
	for {
		if n, from, err = unix.Recvfrom(fd, buffer, 0); !errors.Is(err, unix.EINTR) {
			return n, from, err
		}
	}
}

// captured counts the questions that came in, by direction, until there are enough; then
// it looks whether there are more. No try at one is to come twice.
func captured(t *testing.T, fd, enough int) map[string]int {
	t.Helper()
	seen, buffer := map[string]int{}, make([]byte, 2048)
	tries, questions := map[[5]byte]bool{}, map[[4]byte]bool{}
	for patience := long; ; {
		tv := unix.NsecToTimeval(int64(patience))
		if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
			t.Fatal(err)
		}
		n, _, err := receive(fd, buffer)
		if err != nil {
			return seen
		}
		try := tryIn(buffer[:n])
		direction, known := map[uint16]string{toServer: "forward", toClient: "reverse"}[destinationPort(buffer[:n])]
		if !known {
			continue
		}
		if tries[try] {
			t.Errorf("%s, try %v came twice", direction, try)
		}
		if question := [4]byte(try[:]); !questions[question] {
			questions[question] = true
			seen[direction]++
		}
		tries[try] = true
		if seen["forward"]+seen["reverse"] >= enough {
			patience = 50 * time.Millisecond
		}
	}
}

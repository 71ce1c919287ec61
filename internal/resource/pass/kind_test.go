package pass

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// place is a namespace with an interface eth0 of the owner's, and its peer, far0.
func place(t *testing.T) resource.Place {
	t.Helper()
	require(t)
	h := nstest.Open(t, nstest.Namespace(t))
	owner := nstest.Owner(t)
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "eth0", MTU: 9000}, PeerName: "far0"}
	if err := h.LinkAdd(pair); err != nil {
		t.Fatal(err)
	}
	if err := h.LinkSetAlias(pair, resource.Mark(owner)+"eth0"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"far0", "eth0"} {
		dev, err := h.LinkByName(name)
		if err == nil {
			err = h.LinkSetUp(dev)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"far0", "eth0"} { // the kernel notices one after the other
		nstest.Carries(t, h, name)
	}
	return resource.At(h, owner)
}

func read(t *testing.T, p resource.Place) []resource.Observed {
	t.Helper()
	found, err := Kind{}.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(found, func(a, b resource.Observed) int { return strings.Compare(a.Key, b.Key) })
	return found
}

func apply(t *testing.T, p resource.Place, op resource.Op, s Spec) {
	t.Helper()
	if err := (Kind{}).Apply(p, []resource.Change{{Op: op, Key: s.Device, Spec: s}}); err != nil {
		t.Fatal(op, err)
	}
}

// onHooks runs a test at each hook that the kernel has, where another version's pass is at eth0: what
// comes in its place is at the same hook.
func onHooks(t *testing.T, test func(t *testing.T, p resource.Place, hook held.Hook)) {
	for needs, hook := range map[string]held.Hook{feature.BPFTCX: held.TCX, feature.BPFClsact: held.Clsact} {
		t.Run(needs, func(t *testing.T) {
			nstest.Require(t, needs)
			p := place(t)
			if err := p.Do(func() error { return hook.Put(p, eth0(t, p), held.Passes, letting(t, held.PassMark+"another"), nil) }); err != nil {
				t.Fatal(err)
			}
			test(t, p, hook)
		})
	}
}

func eth0(t *testing.T, p resource.Place) int {
	t.Helper()
	dev, err := p.Device("eth0")
	if err != nil {
		t.Fatal(err)
	}
	return dev.Attrs().Index
}

// letting is a program that lets everything go on.
func letting(t *testing.T, name string) *ebpf.Program {
	t.Helper()
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: name, Type: ebpf.SchedCLS, Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, -1), asm.Return()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return program
}

// TestReadsBack: what was made reads back the same, twice made too, and is gone once
// removed, also twice. A foreign program stays, behind ours.
func TestReadsBack(t *testing.T) {
	onHooks(t, func(t *testing.T, p resource.Place, hook held.Hook) {
		foreign := strangers(t, p, hook)
		flow := NewLimit(7, Bucket{Rate: 1e9, Burst: 1e6, Per: Source, Bits4: 24, Bits6: 64})
		specs := []Spec{
			{Device: "eth0", Steps: []Step{NewCount(0)}}, {Device: "eth0", Steps: []Step{NewCount(0)}},
			{Device: "eth0", Steps: []Step{NewDSCP(1, 46), NewDrop(2, Share{Every: 9}), NewMark(3, 1, 1)}},
			{Device: "eth0", Steps: []Step{flow}, Flows: 5000}, {Device: "eth0", Steps: []Step{flow}, Flows: 6000},
		}
		for i, s := range specs {
			apply(t, p, map[bool]resource.Op{true: resource.Create, false: resource.Update}[i == 0], s)
			found := read(t, p)
			if len(found) != 1 || found[0].Key != "eth0" || found[0].Fingerprint != s.Fingerprint() {
				t.Fatalf("found %+v\nwant %s", found, s.Fingerprint())
			}
			if got := programs(t, p, hook); len(got) != 2 || got[1] != foreign {
				t.Fatalf("programs %v, and the foreign one is %d", got, foreign)
			}
		}
		apply(t, p, resource.Delete, specs[0])
		apply(t, p, resource.Delete, specs[0])
		if found := read(t, p); len(found) != 0 {
			t.Errorf("after removing: %+v", found)
		}
		if got := programs(t, p, hook); len(got) != 1 || got[0] != foreign {
			t.Errorf("programs %v, and the foreign one is %d", got, foreign)
		}
	})
}

// TestWhereNoneIs: the first pass of an interface is at the hook that the machine has.
func TestWhereNoneIs(t *testing.T) {
	p := place(t)
	hook := held.Clsact
	if nstest.Has(feature.BPFTCX) {
		hook = held.TCX
	}
	s := Spec{Device: "eth0", Steps: []Step{NewCount(0)}}
	apply(t, p, resource.Create, s)
	if got := programs(t, p, hook); len(got) != 1 {
		t.Errorf("programs %v", got)
	}
	if found := read(t, p); len(found) != 1 || found[0].Fingerprint != s.Fingerprint() {
		t.Errorf("found %+v", found)
	}
}

// strangers put a program of theirs at an interface.
func strangers(t *testing.T, p resource.Place, hook held.Hook) (id ebpf.ProgramID) {
	t.Helper()
	program, index := letting(t, "stranger"), eth0(t, p)
	if err := p.Do(func() error {
		if hook == held.TCX {
			return link.RawAttachProgram(link.RawAttachProgramOptions{Target: index, Program: program, Attach: ebpf.AttachTCXIngress})
		}
		at := netlink.FilterAttrs{LinkIndex: index, Parent: netlink.HANDLE_MIN_INGRESS, Priority: 9000, Protocol: unix.ETH_P_ALL}
		return p.FilterAdd(&netlink.BpfFilter{FilterAttrs: at, Fd: program.FD(), Name: "stranger", DirectAction: true})
	}); err != nil {
		t.Fatal(err)
	}
	info, err := program.Info()
	if err != nil {
		t.Fatal(err)
	}
	id, _ = info.ID()
	return id
}

// programs of eth0 at a hook, everybody's.
func programs(t *testing.T, p resource.Place, hook held.Hook) (ids []ebpf.ProgramID) {
	t.Helper()
	index := eth0(t, p)
	if err := p.Do(func() (err error) {
		if hook == held.TCX {
			ids, err = held.AtTCX(index)
			return err
		}
		filters, err := p.FilterList(&netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: index}}, netlink.HANDLE_MIN_INGRESS)
		for _, f := range filters {
			if at, is := f.(*netlink.BpfFilter); is {
				ids = append(ids, ebpf.ProgramID(at.Id))
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestPacketsOfAWire sends what cannot be given to a program otherwise: frames that are cut
// within their header, and large ones, of which the kernel keeps the headers apart.
func TestPacketsOfAWire(t *testing.T) {
	onHooks(t, packetsOfAWire)
}

func packetsOfAWire(t *testing.T, p resource.Place, _ held.Hook) {
	s := Spec{Device: "eth0", Steps: []Step{NewDrop(0, Share{Below: 1 << 53})}}
	apply(t, p, resource.Create, s)
	const n, payload = 10, 8000
	for range n {
		send(t, p, "far0", frame(ether(typeIPv4), ipv4(17, 0, 0, nil, payload), make([]byte, payload)))
		send(t, p, "far0", frame(ether(typeIPv6), ipv6(17, 0, payload), make([]byte, payload)))
		send(t, p, "far0", frame(ether(typeIPv4), ipv4(17, 0, 0, nil, 0)[:19]))
		send(t, p, "far0", frame(ether(typeIPv6), ipv6(17, 0, 0)[:39]))
		send(t, p, "far0", frame(ether(typeIPv4, 0x8100), ipv4(17, 0, 0, nil, 0)[:19]))
	}
	const bytes = n * (2*payload + 14 + 20 + 14 + 40)
	var c Counts
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		var found bool
		var err error
		if c, found, err = CountAt(p, "eth0"); err != nil || !found {
			t.Fatal(found, err)
		}
		if c.Malformed.Packets >= 3*n && c.Slots[0].Bytes >= bytes && settled(c) {
			break
		}
	}
	// The kernel says something of its own, too; nothing that is malformed.
	if c.Malformed.Packets != 3*n || c.Slots[0].Packets < 2*n || c.Slots[0].Bytes < bytes {
		t.Errorf("counted %+v", c)
	}
	if !settled(c) {
		t.Errorf("what came is not what became of it: %+v", c)
	}
	// What does the same goes on counting; what does something else begins again. What is no step's goes on.
	s.Steps = []Step{NewDrop(0, Share{Every: 1})}
	apply(t, p, resource.Update, s)
	if again, _, err := CountAt(p, "eth0"); err != nil || again.Malformed != c.Malformed {
		t.Errorf("%+v after %+v: %v", again, c, err)
	}
	s.Steps = []Step{NewCount(0)}
	apply(t, p, resource.Update, s)
	if fresh, _, err := CountAt(p, "eth0"); err != nil || fresh.Malformed != c.Malformed || fresh.Slots[0].Packets >= 2*n {
		t.Errorf("%+v of a new one: %v", fresh, err)
	}
}

// settled tells that what came is what became of it. A packet that is counted while the
// counters are read may be in one and not in the other.
func settled(c Counts) bool {
	return c.Came.Packets == c.Malformed.Packets+c.Other.Packets+c.Slots[0].Packets
}

// send a frame from an interface.
func send(t *testing.T, p resource.Place, device string, frame []byte) {
	t.Helper()
	sendMany(t, p, device, frame, 1)
}

// sendMany times by one socket: the kernel takes a while to close one.
func sendMany(t *testing.T, p resource.Place, device string, frame []byte, times int) {
	t.Helper()
	dev, err := p.Device(device)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Do(func() error {
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		protocol := binary.BigEndian.Uint16(frame[12:])
		for range times {
			if err := unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: dev.Attrs().Index, Protocol: protocol<<8 | protocol>>8}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

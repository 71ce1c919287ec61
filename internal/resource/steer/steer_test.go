package steer_test

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// forwarder is a namespace with ports of the owner's, and those of nodes behind them, in each
// of which eth0 is the far end.
type forwarder struct {
	resource.Place
	nodes []string
}

// ports of every forwarder here.
var ports = []string{"port0", "port1", "port2"}

func newForwarder(t testing.TB) *forwarder { return newForwarderOf(t, ports) }

func newForwarderOf(t testing.TB, ports []string) *forwarder {
	t.Helper()
	nstest.Require(t, feature.Veth, feature.BPFPeer, feature.BPFClsact)
	owner, own := nstest.Owner(t), nstest.Open(t, nstest.Namespace(t))
	quiet(t, own)
	f := &forwarder{}
	for _, port := range ports {
		far := nstest.Open(t, nstest.Namespace(t))
		quiet(t, far)
		f.nodes = append(f.nodes, far.Ref)
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: port}, PeerName: "eth0", PeerNamespace: netlink.NsFd(far.FD())}
		if err := own.LinkAdd(pair); err != nil {
			t.Fatal(err)
		}
		end, err := far.LinkByName("eth0")
		if err := errors.Join(err, own.LinkSetAlias(pair, resource.Mark(owner)+port), own.LinkSetUp(pair), far.LinkSetUp(end)); err != nil {
			t.Fatal(err)
		}
		nstest.Carries(t, far, "eth0")
	}
	f.Place = resource.At(own, owner)
	return f
}

// quiet has the kernel say nothing of its own in a namespace.
func quiet(t testing.TB, h *netns.Handle) {
	t.Helper()
	err := h.Do(func() error {
		return exec.Command("sh", "-c", "for i in all default; do echo 1 >/proc/sys/net/ipv6/conf/$i/disable_ipv6; done").Run()
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (f *forwarder) read(t testing.TB) map[string]string {
	t.Helper()
	f.Place = resource.At(f.Handle, f.Owner)
	found, err := steer.Kind{}.Read(f.Place)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, o := range found {
		all[o.Key] = o.Fingerprint
	}
	return all
}

func (f *forwarder) apply(t testing.TB, op resource.Op, s steer.Spec) {
	t.Helper()
	f.Place = resource.At(f.Handle, f.Owner)
	if err := (steer.Kind{}).Apply(f.Place, []resource.Change{{Op: op, Key: s.Device, Spec: s}}); err != nil {
		t.Fatal(op, s, err)
	}
}

// sh runs a line in the forwarder's namespace.
func (f *forwarder) sh(t testing.TB, line string) string {
	t.Helper()
	nstest.Require(t, feature.ToolIP, feature.ToolTC)
	var out []byte
	err := f.Do(func() (err error) {
		out, err = exec.Command("sh", "-ec", line).CombinedOutput()
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

func (f *forwarder) index(t testing.TB, port string) int {
	t.Helper()
	l, err := f.LinkByName(port)
	if err != nil {
		t.Fatal(err)
	}
	return l.Attrs().Index
}

var eachHook = []string{steer.TCX, steer.Clsact}

// onHooks runs a test for each hook that the kernel has.
func onHooks(t *testing.T, test func(t *testing.T, hook string)) {
	for _, hook := range eachHook {
		t.Run(hook, func(t *testing.T) {
			if hook == steer.TCX {
				nstest.Require(t, feature.BPFTCX)
			}
			test(t, hook)
		})
	}
}

// itsHook is the one that the kernel's forwarders are at unless they are told otherwise.
func itsHook() string {
	if nstest.Has(feature.BPFTCX) {
		return steer.TCX
	}
	return steer.Clsact
}

// TestReadsBack: what was made reads back the same, made twice too, turned and put at another
// hook, and is gone once removed, also twice.
func TestReadsBack(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		f := newForwarder(t)
		spec := steer.Spec{Device: "port0", To: "port1", Hook: hook}
		turned := steer.Spec{Device: "port0", To: "port2", Hook: hook}
		for _, step := range []struct {
			op resource.Op
			s  steer.Spec
		}{{resource.Create, spec}, {resource.Create, spec}, {resource.Update, turned}, {resource.Update, spec}} {
			f.apply(t, step.op, step.s)
			if found := f.read(t); len(found) != 1 || found["port0"] != step.s.Fingerprint() {
				t.Fatalf("%s %+v: found %v", step.op, step.s, found)
			}
		}
		f.apply(t, resource.Delete, spec)
		f.apply(t, resource.Delete, spec)
		if found := f.read(t); len(found) != 0 {
			t.Errorf("after removing: %v", found)
		}
	})
}

// TestOtherHook: a program moves from one hook to the other.
func TestOtherHook(t *testing.T) {
	nstest.Require(t, feature.BPFTCX)
	f := newForwarder(t)
	for _, hook := range []string{steer.Clsact, steer.TCX, steer.Clsact} {
		spec := steer.Spec{Device: "port0", To: "port1", Hook: hook}
		f.apply(t, resource.Update, spec)
		if found := f.read(t); found["port0"] != spec.Fingerprint() {
			t.Errorf("found %v, want %s", found, spec.Fingerprint())
		}
	}
}

// TestTurnsInPlace: a port that is turned keeps its program, and so loses nothing meanwhile.
func TestTurnsInPlace(t *testing.T) {
	nstest.Require(t, feature.BPFTCX)
	f := newForwarder(t)
	program := func() ebpf.ProgramID {
		t.Helper()
		all := f.tcx(t, "port0")
		if len(all) != 1 {
			t.Fatal(all)
		}
		return all[0]
	}
	f.apply(t, resource.Create, steer.Spec{Device: "port0", To: "port1", Hook: steer.TCX})
	before := program()
	f.apply(t, resource.Update, steer.Spec{Device: "port0", To: "port2", Hook: steer.TCX})
	if after := program(); after != before {
		t.Errorf("program %d was replaced by %d", before, after)
	}
}

// tcx are the programs of a port there.
func (f *forwarder) tcx(t testing.TB, port string) (ids []ebpf.ProgramID) {
	t.Helper()
	index := f.index(t, port)
	err := f.Do(func() error {
		found, err := link.QueryPrograms(link.QueryOptions{Target: index, Attach: ebpf.AttachTCXIngress})
		if err != nil {
			return err
		}
		for _, p := range found.Programs {
			ids = append(ids, p.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestSeesDamage: a program that is gone, and a port that is.
func TestSeesDamage(t *testing.T) {
	f := newForwarder(t)
	spec := steer.Spec{Device: "port0", To: "port1", Hook: steer.Clsact}
	f.apply(t, resource.Create, spec)
	f.sh(t, "tc filter del dev port0 ingress")
	if found := f.read(t); len(found) != 0 {
		t.Errorf("without its filter: %v", found)
	}
	f.apply(t, resource.Create, spec)
	f.sh(t, "ip link del port1")
	if found := f.read(t); found["port0"] == "" || found["port0"] == spec.Fingerprint() || !strings.Contains(found["port0"], "gone") {
		t.Errorf("without where it leads: %v", found)
	}
	err := (steer.Kind{}).Apply(resource.At(f.Handle, f.Owner), []resource.Change{{Op: resource.Update, Key: "port0", Spec: spec}})
	if err == nil || !strings.Contains(err.Error(), "port1") {
		t.Errorf("a port that is not there: %v", err)
	}
}

// nothing is a program of somebody else's that lets everything pass.
func nothing(t testing.TB, name string, verdict int32) *ebpf.Program {
	t.Helper()
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: name, Type: ebpf.SchedCLS, License: "GPL",
		Instructions: asm.Instructions{asm.LoadImm(asm.R0, int64(verdict), asm.DWord), asm.Return()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

const tcxNext = -1

// TestLeavesOthersPrograms of the same port alone, before and behind our own, and their filters of
// every type that the kernel has.
func TestLeavesOthersPrograms(t *testing.T) {
	for needs, match := range map[string]string{feature.BPFClsact: "bpf bytecode '1,6 0 0 0'", feature.Redirect: "u32 match u32 0 0 flowid :1"} {
		t.Run(needs, func(t *testing.T) {
			nstest.Require(t, feature.BPFTCX, needs)
			f := newForwarder(t)
			stranger := nothing(t, "stranger", tcxNext)
			f.strange(t, held.TCX, stranger, 0)
			f.sh(t, "tc qdisc add dev port0 clsact && tc filter add dev port0 ingress protocol ip prio 5 "+match)
			filters := f.sh(t, "tc filter show dev port0 ingress")
			if found := f.read(t); len(found) != 0 {
				t.Errorf("another's program is taken for ours: %v", found)
			}
			for _, hook := range eachHook {
				spec := steer.Spec{Device: "port0", To: "port1", Hook: hook}
				f.apply(t, resource.Create, spec)
				f.apply(t, resource.Update, steer.Spec{Device: "port0", To: "port2", Hook: hook})
				if all := f.tcx(t, "port0"); len(all) == 0 || all[0] != id(t, stranger) {
					t.Errorf("%s: the stranger is gone: %v", hook, all)
				}
				f.apply(t, resource.Delete, spec)
				if all := f.tcx(t, "port0"); len(all) != 1 || all[0] != id(t, stranger) {
					t.Errorf("%s: %v after removing ours", hook, all)
				}
			}
			if after := f.sh(t, "tc filter show dev port0 ingress"); after != filters {
				t.Errorf("before:\n%s\nafter:\n%s", filters, after)
			}
		})
	}
}

// strange is a program of somebody else's that is put at the first port: at tcx behind all others,
// and at clsact with a priority.
func (f *forwarder) strange(t testing.TB, hook held.Hook, p *ebpf.Program, priority uint16) {
	t.Helper()
	index := f.index(t, "port0")
	err := f.Do(func() error {
		if hook == held.TCX {
			return link.RawAttachProgram(link.RawAttachProgramOptions{Target: index, Program: p, Attach: ebpf.AttachTCXIngress})
		}
		qdisc := &netlink.Clsact{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: index, Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT}}
		if err := f.QdiscAdd(qdisc); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
		at := netlink.FilterAttrs{LinkIndex: index, Parent: netlink.HANDLE_MIN_INGRESS, Priority: priority, Protocol: unix.ETH_P_ALL}
		return f.FilterAdd(&netlink.BpfFilter{FilterAttrs: at, Fd: p.FD(), Name: "strange", DirectAction: true})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// counting is a program of somebody else's that counts what comes, and how much it has.
func counting(t testing.TB) (*ebpf.Program, func() uint64) {
	t.Helper()
	counter, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = counter.Close() })
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "counting", Type: ebpf.SchedCLS, Instructions: asm.Instructions{
		asm.StoreImm(asm.RFP, -4, 0, asm.Word),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, counter.FD()),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
		asm.Mov.Imm(asm.R0, tcxNext).WithSymbol("out"),
		asm.Return(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, func() (n uint64) {
		if err := counter.Lookup(uint32(0), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
}

// TestBesideOthers: a program of somebody else's before ours sees each packet, whatever becomes of
// ours; one behind it sees what ours does not send on.
func TestBesideOthers(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		f, at := newForwarder(t), map[string]held.Hook{steer.TCX: held.TCX, steer.Clsact: held.Clsact}[hook]
		first, before := counting(t)
		f.strange(t, at, first, 5)
		spec := steer.Spec{Device: "port0", To: "port1", Hook: hook}
		f.apply(t, resource.Create, spec)
		last, behind := counting(t)
		f.strange(t, at, last, 9000)
		west, sinks := f.wire(t, 0), []wire{f.wire(t, 1), f.wire(t, 2)}
		const n = 20
		for i := range uint32(n) {
			f.apply(t, resource.Update, steer.Spec{Device: "port0", To: ports[1+i%2], Hook: hook})
			west.pass(t, frame(stranger, []byte{0x88, 0xb5}, 60, 0xface0000+i), sinks[i%2])
		}
		if seen, past := before(), behind(); seen < n || past != 0 {
			t.Errorf("of %d packets somebody's program saw %d before ours, and %d behind it", n, seen, past)
		}
		f.apply(t, resource.Delete, spec)
		for deadline := time.Now().Add(time.Minute); behind() < n; time.Sleep(time.Millisecond) {
			if west.send(t, frame(stranger, []byte{0x88, 0xb5}, 60, 1)); time.Now().After(deadline) {
				t.Fatalf("%d packets came to what is behind ours, which is gone", behind())
			}
		}
		if before() < 2*n {
			t.Errorf("%d packets came to what is before ours", before())
		}
	})
}

func id(t testing.TB, p *ebpf.Program) ebpf.ProgramID {
	t.Helper()
	info, err := p.Info()
	if err != nil {
		t.Fatal(err)
	}
	n, _ := info.ID()
	return n
}

// TestAnotherVersion of the program is replaced, and told from ours.
func TestAnotherVersion(t *testing.T) {
	nstest.Require(t, feature.BPFTCX)
	f := newForwarder(t)
	index := f.index(t, "port0")
	spec := steer.Spec{Device: "port0", To: "port1", Hook: steer.TCX}
	f.apply(t, resource.Create, spec)
	old := f.tcx(t, "port0")
	// As it would be called by another version.
	err := f.Do(func() error {
		program, err := ebpf.NewProgramFromID(old[0])
		if err != nil {
			return err
		}
		defer func() { _ = program.Close() }()
		return held.Replace(index, nothing(t, steer.Mark+"1234567", tcxNext), program)
	})
	if err != nil {
		t.Fatal(err)
	}
	if now := f.tcx(t, "port0"); len(now) != 1 || now[0] == old[0] {
		t.Fatalf("programs %v in the place of %v", now, old)
	}
	if found := f.read(t); found["port0"] == "" || found["port0"] == spec.Fingerprint() {
		t.Errorf("another version looks like %q", found["port0"])
	}
	if counted, err := steer.Count(resource.At(f.Handle, f.Owner)); err != nil || len(counted) != 0 {
		t.Errorf("one that counts nothing: %v, error %v", counted, err)
	}
	f.apply(t, resource.Update, spec)
	if found := f.read(t); found["port0"] != spec.Fingerprint() || len(f.tcx(t, "port0")) != 1 {
		t.Errorf("found %v, programs %v", found, f.tcx(t, "port0"))
	}
}

// TestGoesWithItsPort: nothing of it is anywhere else.
func TestGoesWithItsPort(t *testing.T) {
	nstest.Require(t, feature.BPFTCX)
	f := newForwarder(t)
	f.apply(t, resource.Create, steer.Spec{Device: "port0", To: "port1", Hook: steer.TCX})
	program := f.tcx(t, "port0")[0]
	f.sh(t, "ip link del port0")
	nstest.Freed(t, uint32(program))
}

// TestManyPorts at once are each told their own way.
func TestManyPorts(t *testing.T) {
	f := newForwarder(t)
	var changes []resource.Change
	for i, port := range ports {
		changes = append(changes, resource.Change{Op: resource.Create, Key: port, Spec: steer.Spec{Device: port, To: ports[(i+1)%3], Hook: steer.Clsact}})
	}
	if err := (steer.Kind{}).Apply(f.Place, changes); err != nil {
		t.Fatal(err)
	}
	for i, port := range ports {
		if text := f.read(t)[port]; !strings.HasPrefix(text, fmt.Sprintf("to %s,", ports[(i+1)%3])) {
			t.Errorf("%s goes %q", port, text)
		}
	}
}

package health_test

import (
	"encoding/binary"
	"errors"
	"os"
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
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/steer"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

const signature = 0x0123456789abcdef

// ports are two of a forwarder's, each steered to the other, and a socket of who is behind the first.
type ports struct {
	*netns.Handle
	hook   held.Hook
	owner  string
	socket int
	far    int
	// behind are the namespaces behind the ports.
	behind []*netns.Handle
	// table of who takes probes out, and the row of the first port in it.
	table *health.Table
	row   int
}

// onHooks runs a test at each hook that the kernel has.
func onHooks(t *testing.T, test func(t *testing.T, p *ports)) {
	for name, hook := range map[string]held.Hook{steer.TCX: held.TCX, steer.Clsact: held.Clsact} {
		t.Run(name, func(t *testing.T) {
			nstest.Require(t, map[string]string{steer.TCX: feature.BPFTCX, steer.Clsact: feature.BPFClsact}[name])
			p := newPorts(t, name)
			p.hook = hook
			test(t, p)
		})
	}
}

func newPorts(t *testing.T, hook string) *ports {
	t.Helper()
	nstest.Root(t)
	nstest.Require(t, feature.Veth, feature.BPFPeer)
	p := &ports{Handle: nstest.Open(t, nstest.Namespace(t)), owner: nstest.Owner(t)}
	for _, name := range []string{"port0", "port1"} {
		far := nstest.Open(t, nstest.Namespace(t))
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: "eth0", PeerNamespace: netlink.NsFd(far.FD())}
		if err := p.LinkAdd(pair); err != nil {
			t.Fatal(err)
		}
		end, err := far.LinkByName("eth0")
		if err := errors.Join(err, p.LinkSetAlias(pair, resource.Mark(p.owner)+name), p.LinkSetUp(pair), far.LinkSetUp(end)); err != nil {
			t.Fatal(err)
		}
		nstest.Carries(t, far, "eth0")
		p.behind = append(p.behind, far)
		if name == "port0" {
			p.connect(t, far, end.Attrs().Index)
		}
	}
	for _, s := range []steer.Spec{{Device: "port0", To: "port1", Hook: hook}, {Device: "port1", To: "port0", Hook: hook}} {
		if err := (steer.Kind{}).Apply(p.place(), []resource.Change{{Op: resource.Create, Key: s.Device, Spec: s}}); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *ports) connect(t *testing.T, far *netns.Handle, index int) {
	t.Helper()
	p.far = index
	err := far.Do(func() (err error) {
		p.socket, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(p.socket) })
}

func (p *ports) place() resource.Place { return resource.At(p.Handle, p.owner) }

func (p *ports) index(t *testing.T, port string) uint32 {
	t.Helper()
	l, err := p.LinkByName(port)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(l.Attrs().Index)
}

// take probes out at the first port; who had nobody is another supervisor, with a table of its own.
func (p *ports) take(t *testing.T, had *health.Taker) *health.Taker {
	t.Helper()
	if had == nil {
		p.row++
		table, err := health.NewTable(p.row+2, signature)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(table.Close)
		p.table = table
	}
	taker, err := p.table.Take(p.place(), "port0", []int{p.row}, had)
	if err != nil {
		t.Fatal(err)
	}
	return taker
}

// send a frame whose payload begins somewhere.
func (p *ports) send(t *testing.T, at int, sign, number uint64, row uint32) {
	t.Helper()
	p.put(t, p.socket, p.far, probe(at, sign, number, row, row))
}

// probe whose payload begins somewhere, which is to come out at the port of a row, and at those up to another one.
func probe(at int, sign, number uint64, row, last uint32) []byte {
	const sent = 1
	b := append(make([]byte, 12), 0x88, 0xb5) // nobody's
	b = append(b, make([]byte, at-len(b))...)
	b = binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(b, sign), number)
	b = binary.NativeEndian.AppendUint64(b, sent)
	b = binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(b, row), last)
	b = binary.NativeEndian.AppendUint64(b, ^uint64(sent))
	return binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(b, ^row), 0)
}

func (p *ports) put(t *testing.T, socket, device int, b []byte) {
	t.Helper()
	err := unix.Sendto(socket, b, 0, &unix.SockaddrLinklayer{Ifindex: device})
	if err != nil && !errors.Is(err, unix.ENOBUFS) { // a machine that another test floods may drop it
		t.Fatal(err)
	}
}

// passed is how many packets the first port steered on.
func (p *ports) passed(t *testing.T) uint64 {
	t.Helper()
	port, err := steer.OpenPort(p.place(), "port0")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	n, err := port.Passed()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sees sends a probe until it is seen: a machine that another test floods may drop it.
func (p *ports) sees(t *testing.T, at int, number uint64) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		p.send(t, at, signature, number, uint32(p.row))
		seen := p.table.Seen(p.row)
		if seen.Number == number {
			if seen.TookNS == 0 {
				t.Errorf("it took no time: %+v", seen)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("probe %d is not seen: %+v", number, seen)
		}
	}
}

// Where the payload begins: of IPv4 and IPv6, and in errors about these.
const (
	inIPv4, inIPv6       = 14 + 20 + 8, 14 + 40 + 8
	aboutIPv4, aboutIPv6 = inIPv4 + 28, inIPv6 + 48
)

// TestTakesProbesOut and nothing else: what is a probe does not go on, and is seen where it should
// come out.
func TestTakesProbesOut(t *testing.T) { onHooks(t, takesProbesOut) }

func takesProbesOut(t *testing.T, p *ports) {
	p.another(t)
	taker := p.take(t, nil)
	defer taker.Close()
	own := uint32(p.row)
	p.sees(t, inIPv4, 7)
	p.sees(t, inIPv6, 8)
	before := p.passed(t)
	for range 500 {
		p.send(t, inIPv4, signature, 99, own+1) // should have come out elsewhere
		p.send(t, aboutIPv4, signature, 0, own) // an error, about one that came back
		p.send(t, aboutIPv6, signature, 0, own)
		p.send(t, inIPv4, signature, 3, own) // an older one
	}
	p.sees(t, inIPv4, 100)
	if now := p.passed(t); now-before > 100 { // the kernel may say something of its own
		t.Errorf("%d packets went on, though all were probes", now-before)
	}
	for _, other := range []func(){
		func() { p.send(t, inIPv6, signature+1, 101, own) },    // somebody else's
		func() { p.send(t, inIPv6+2, signature, 101, own) },    // of another length
		func() { p.send(t, aboutIPv4, signature+1, 0, own) },   // about somebody else's
		func() { p.send(t, aboutIPv6-1, signature, 101, own) }, // of another length
	} {
		before := p.passed(t)
		for deadline := time.Now().Add(time.Minute); p.passed(t) < before+200; time.Sleep(time.Millisecond) {
			for range 20 { // to ask takes longer than to send
				other()
			}
			if time.Now().After(deadline) {
				t.Fatal("what is no probe does not go on")
			}
		}
	}
	if seen := p.table.Seen(p.row); seen.Number != 100 {
		t.Errorf("seen %+v", seen)
	}
	for _, other := range []int{p.row - 1, p.row + 1} {
		if seen := p.table.Seen(other); seen != (health.Seen{}) {
			t.Errorf("in another port's row is %+v", seen)
		}
	}
}

// another supervisor's program stands at the first port: what comes in its place is at the same hook.
func (p *ports) another(t *testing.T) {
	t.Helper()
	program := nothing(t, held.ProbeMark+"another")
	if err := p.Do(func() error {
		return p.hook.Put(p.place(), int(p.index(t, "port0")), held.Probes, program, nil)
	}); err != nil {
		t.Fatal(err)
	}
}

// TestIsFirst of an interface's programs, also where another one comes before it later; and what
// another supervisor's has seen is kept.
func TestIsFirst(t *testing.T) {
	nstest.Require(t, feature.BPFTCX)
	p := newPorts(t, steer.TCX)
	p.hook = held.TCX
	taker := p.take(t, nil)
	p.sees(t, inIPv4, 7)
	if again := p.take(t, taker); again != taker {
		t.Error("one that is first is put there again")
	}
	again, err := p.table.Take(p.place(), "port0", []int{p.row}, nil)
	if err != nil {
		t.Fatal(err)
	}
	taker.Close()
	taker = again
	other := nothing(t, "somebodys")
	err = p.Do(func() error {
		return link.RawAttachProgram(link.RawAttachProgramOptions{Target: int(p.index(t, "port0")), Program: other, Attach: ebpf.AttachTCXIngress, Anchor: link.Head()})
	})
	if err != nil {
		t.Fatal(err)
	}
	next := p.take(t, taker)
	if next == taker {
		t.Fatal("one that is not first is left there")
	}
	taker.Close()
	defer next.Close()
	if seen := p.table.Seen(p.row); seen.Number != 7 {
		t.Errorf("it has seen %+v", seen)
	}
	if ids := p.programs(t); len(ids) != 3 {
		t.Errorf("programs %v; want the one that takes probes out, the other, and the one that steers", ids)
	}
	p.sees(t, inIPv4, 8)
}

// TestFollows another supervisor's at clsact, in the place of which it comes: what that has seen is
// kept, and a filter of somebody else's before it is left alone.
func TestFollows(t *testing.T) {
	nstest.Require(t, feature.BPFClsact)
	p := newPorts(t, steer.Clsact)
	p.hook = held.Clsact
	p.another(t)
	taker := p.take(t, nil)
	p.sees(t, inIPv4, 7)
	if again := p.take(t, taker); again != taker {
		t.Error("one that is there is put there again")
	}
	at := netlink.FilterAttrs{LinkIndex: int(p.index(t, "port0")), Parent: netlink.HANDLE_MIN_INGRESS, Priority: 5, Protocol: unix.ETH_P_ALL}
	if err := p.FilterAdd(&netlink.BpfFilter{FilterAttrs: at, Fd: nothing(t, "somebodys").FD(), Name: "somebodys", DirectAction: true}); err != nil {
		t.Fatal(err)
	}
	next := p.take(t, nil)
	taker.Close()
	defer next.Close()
	if seen := p.table.Seen(p.row); seen.Number != 7 {
		t.Errorf("it has seen %+v", seen)
	}
	if ids := p.programs(t); len(ids) != 3 {
		t.Errorf("programs %v; want somebody's, the one that takes probes out, and the one that steers", ids)
	}
	p.sees(t, inIPv4, 8)
}

// TestStill: a port that was opened, and what takes probes out there, are still the ones until others come in
// their place.
func TestStill(t *testing.T) { onHooks(t, still) }

func still(t *testing.T, p *ports) {
	port, err := steer.OpenPort(p.place(), "port0")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	taker := p.take(t, nil)
	defer taker.Close()
	asks := func(what string, wantStill, wantFirst bool) {
		t.Helper()
		err := p.Do(func() error {
			at := p.place()
			is, err := port.Still(at, "port0")
			first, err2 := taker.IsFirst(at, port.Index)
			if is != wantStill || first != wantFirst {
				t.Errorf("%s: still %v, first %v", what, is, first)
			}
			return errors.Join(err, err2)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	asks("as it was", true, true)
	spec := func(hook string) steer.Spec { return steer.Spec{Device: "port0", To: "port1", Hook: hook} }
	name := map[held.Hook]string{held.TCX: steer.TCX, held.Clsact: steer.Clsact}[p.hook]
	for _, c := range []resource.Change{{Op: resource.Delete, Key: "port0", Spec: spec(name)}, {Op: resource.Create, Key: "port0", Spec: spec(name)}} {
		if err := (steer.Kind{}).Apply(p.place(), []resource.Change{c}); err != nil {
			t.Fatal(err)
		}
	}
	asks("steered anew", false, true)
	p.take(t, nil).Close()
	asks("watched by another", false, false)
	l, err := p.LinkByName("port0")
	if err == nil {
		err = p.LinkDel(l)
	}
	if err != nil {
		t.Fatal(err)
	}
	asks("removed", false, false)
}

// programs of the first port at its hook.
func (p *ports) programs(t *testing.T) (ids []ebpf.ProgramID) {
	t.Helper()
	index := int(p.index(t, "port0"))
	err := p.Do(func() (err error) {
		if p.hook == held.TCX {
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
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// nothing is a program that lets everything go on to the next.
func nothing(t *testing.T, name string) *ebpf.Program {
	t.Helper()
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: name, Type: ebpf.SchedCLS, License: "GPL",
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, -1), asm.Return()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return program
}

// TestLeft: what a supervisor that is gone has left is found, and goes.
func TestLeft(t *testing.T) { onHooks(t, left) }

func left(t *testing.T, p *ports) {
	paths := func() int {
		t.Helper()
		found, err := health.Kind{}.Read(p.place())
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	if n := paths(); n != 0 {
		t.Errorf("%d paths before anything is done", n)
	}
	p.another(t)
	p.take(t, nil).Close()
	if n := paths(); n != 1 {
		t.Errorf("%d paths where probes are taken out", n)
	}
	p.remove(t)
	if ids := p.programs(t); paths() != 0 || len(ids) != 1 {
		t.Errorf("left programs %v", ids)
	}
	port, err := steer.OpenPort(p.place(), "port1")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	if err := port.SetInstead(steer.Nowhere); err != nil {
		t.Fatal(err)
	}
	if n := paths(); n != 1 {
		t.Errorf("%d paths where packets end", n)
	}
	p.remove(t)
	if to, err := port.Instead(); err != nil || to != 0 || paths() != 0 {
		t.Errorf("packets go to %d, error %v", to, err)
	}
}

func (p *ports) remove(t *testing.T) {
	t.Helper()
	if err := (health.Kind{}).Apply(p.place(), []resource.Change{{Op: resource.Delete, Key: "path"}}); err != nil {
		t.Fatal(err)
	}
}

var _ resource.Worded = health.Spec{}

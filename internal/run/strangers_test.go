package run_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
	pairs "nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/trial"
)

// crowded are edits of a chain whose ports hold all kinds of programs meanwhile: passes of inline functions, what takes probes out, what shares flows
// out, and what has them stay.
var crowded = []string{
	"functions: [{name: count, kind: counter, runtime: inline}, {name: a, kind: forward, onFailure: bypass}, {name: r, kind: forward, replicas: 2}]\n",
	"functions: [{name: count, kind: counter, runtime: inline}, {name: a, kind: forward, onFailure: bypass}, {name: x, kind: forward}, {name: r, kind: forward, replicas: 2}]\n",
	"functions: [{name: count, kind: counter, runtime: inline}, {name: set, kind: dscp, runtime: inline, dscp: {code: ef}}, {name: a, kind: forward, onFailure: bypass}, {name: x, kind: forward}, {name: r, kind: forward, replicas: 3}]\n",
}

// TestOthersProgramsUnderLoad: programs of somebody else's at a chain's ports, at each hook, are where they were after edits while packets pass, of which none
// is lost, and count on. They go with the ports, and are not held by anything else.
func TestOthersProgramsUnderLoad(t *testing.T) {
	for _, hook := range []string{"tcx", "clsact"} {
		t.Run(hook, func(t *testing.T) {
			s := &strangers{T: t, counts: []held.Hook{held.TCX}}
			if hook == "clsact" {
				s.counts = append(s.counts, held.Clsact)
			}
			losesNone(t, edited{
				wiring: "wiring: ebpf\nebpf: {hook: " + hook + ", idle: 1m, census: 250ms}\n", edits: crowded, beside: s.beside,
				load: trial.Condition{OfferedPps: 2000, Flows: 100, DurationS: 6},
			})
			s.gone()
		})
	}
}

// strangers are programs of somebody else's at a chain's ports.
type strangers struct {
	*testing.T
	// counts are the hooks at which they come before what sends packets on.
	counts []held.Hook
	all    []*stranger
}

// stranger is one that counts what comes in and lets it go on.
type stranger struct {
	*ebpf.Program
	id      ebpf.ProgramID
	counter *ebpf.Map
	hook    held.Hook
	port    string
	index   int
	since   uint64
}

// beside a trial there are some, at the ports by which the client's packets come in and those that come out of a function.
func (s *strangers) beside(p *plan.Plan, _ int) (end func() error, err error) {
	h, err := netns.Open(p.Between())
	if err != nil {
		return nil, err
	}
	at, first := resource.At(h, p.Chain), len(s.all)
	for _, n := range []plan.Node{p.Client(), p.Functions()[0]} {
		for _, hook := range []held.Hook{held.TCX, held.Clsact} {
			one, err := comes(at, facing(p, n), hook)
			if err != nil {
				h.Close()
				return nil, err
			}
			s.all = append(s.all, one)
		}
	}
	return func() error {
		defer h.Close()
		if err := s.stay(at, s.all[first:]); err != nil {
			return err
		}
		return s.countOn(p, s.all[first:])
	}, nil
}

// facing is the port by which a node's packets to its east come in.
func facing(p *plan.Plan, n plan.Node) string {
	for _, r := range p.Resources {
		if s, is := r.Spec.(pairs.Spec); is && s.A.Namespace == n.Namespace && s.A.Device == n.East.Device {
			return s.B.Device
		}
	}
	return ""
}

// priority of a stranger's filter.
const priority held.Rank = 5

// comes a stranger to a port, before all that is there.
func comes(at resource.Place, port string, hook held.Hook) (*stranger, error) {
	dev, err := at.Device(port)
	if err != nil {
		return nil, err
	}
	s := &stranger{hook: hook, port: port, index: dev.Attrs().Index}
	if s.counter, err = ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1}); err != nil {
		return nil, err
	}
	s.Program, err = ebpf.NewProgram(&ebpf.ProgramSpec{Name: "stranger", Type: ebpf.SchedCLS, Instructions: asm.Instructions{
		asm.StoreImm(asm.RFP, -4, 0, asm.Word),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, s.counter.FD()),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
		asm.Mov.Imm(asm.R0, -1).WithSymbol("out"), // on to the next
		asm.Return(),
	}})
	if err != nil {
		return nil, err
	}
	info, err := s.Info()
	if err != nil {
		return nil, err
	}
	s.id, _ = info.ID()
	return s, at.Do(func() error { return s.attach(at) })
}

func (s *stranger) attach(at resource.Place) error {
	if s.hook == held.TCX {
		return link.RawAttachProgram(link.RawAttachProgramOptions{Target: s.index, Program: s.Program, Attach: ebpf.AttachTCXIngress, Anchor: link.Head()})
	}
	if err := held.Prepare(at, s.index); err != nil {
		return err
	}
	f := netlink.FilterAttrs{LinkIndex: s.index, Parent: netlink.HANDLE_MIN_INGRESS, Priority: uint16(priority), Protocol: unix.ETH_P_ALL}
	return at.FilterAdd(&netlink.BpfFilter{FilterAttrs: f, Fd: s.FD(), Name: "stranger", DirectAction: true})
}

// count is how many packets came by it.
func (s *stranger) count() (n uint64, err error) {
	err = s.counter.Lookup(uint32(0), &n)
	return n, err
}

// stay is an error if some are no longer where they were put.
func (s *strangers) stay(at resource.Place, some []*stranger) (err error) {
	for _, one := range some {
		err = errors.Join(err, at.Do(func() error {
			ids, err := one.hook.Programs(at, one.index, priority)
			if err == nil && !slices.Contains(ids, one.id) {
				err = fmt.Errorf("at port %s %T holds programs %v, and a stranger's, %d, is gone", one.port, one.hook, ids, one.id)
			}
			return err
		}))
	}
	return err
}

// countOn is an error unless some counted packets of the load, and count those of a flow that begins now.
func (s *strangers) countOn(p *plan.Plan, some []*stranger) error {
	some = slices.DeleteFunc(slices.Clone(some), func(one *stranger) bool { return !slices.Contains(s.counts, one.hook) })
	for _, one := range some {
		n, err := one.count()
		if one.since = n; err != nil || n == 0 {
			return fmt.Errorf("at port %s a stranger's program at %T counted %d packets (%w)", one.port, one.hook, n, err)
		}
	}
	var c net.Conn
	err := netns.Do(p.Client().Namespace, func() (err error) {
		c, err = net.Dial("udp", netip.AddrPortFrom(p.Server().West.Addresses[0], 7017).String())
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	for deadline := time.Now().Add(time.Minute); len(some) > 0; time.Sleep(time.Millisecond) {
		_, _ = c.Write([]byte("packet"))
		some = slices.DeleteFunc(some, func(one *stranger) bool {
			n, _ := one.count()
			return n >= one.since+20
		})
		if len(some) > 0 && time.Now().After(deadline) {
			return fmt.Errorf("at port %s a stranger's program at %T counts no more", some[0].port, some[0].hook)
		}
	}
	return nil
}

// gone with the ports they are, once nobody has them open.
func (s *strangers) gone() {
	s.Helper()
	for _, one := range s.all {
		_, _ = one.Close(), one.counter.Close()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			left, err := ebpf.NewProgramFromID(one.id)
			if errors.Is(err, unix.ENOENT) {
				break
			}
			if err == nil {
				_ = left.Close()
			}
			if err != nil || time.Now().After(deadline) {
				s.Fatalf("the chain has gone, and a stranger's program at port %s of it has not: %v", one.port, err)
			}
		}
	}
}

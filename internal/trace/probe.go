package trace

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"

	"golang.org/x/sys/unix"

	bpf "nfchain.dev/nfchain/bpf/trace"
)

// most packets of a point whose times are kept.
const most = 4096

// probe is the programs at their tracepoints. They and their maps go with this
// process's descriptors.
type probe struct {
	objects bpf.ProgramObjects
	links   []link.Link
	sockets []int
	view    *view
	stride  int
	samples int
	softirq bool
	// marked tells that there are packets of our own; others need no look at each.
	marked bool
}

// newProbe loads and attaches the programs for a chain and for packets with that
// signature, where there are probes with another; 0 is none.
func newProbe(v *view, o Options, signature uint32, probes uint64) (*probe, error) {
	p := &probe{view: v, stride: max(1, (o.Send+most-1)/most), softirq: o.Softirq, marked: signature != 0}
	p.samples = max(1, (o.Send+p.stride-1)/p.stride)
	types, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, fmt.Errorf("the kernel does not describe its types (a kernel built with CONFIG_DEBUG_INFO_BTF has them): %w", err)
	}
	spec, err := bpf.LoadProgram()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(p.size(spec, signature), spec.Variables["probes"].Set(probes), spec.Variables["between"].Set(v.between)); err != nil {
		return nil, err
	}
	if err := spec.LoadAndAssign(&p.objects, &ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{KernelTypes: types}}); err != nil {
		return nil, fmt.Errorf("load the programs that look at packets (root is needed, and Linux 5.17 or newer): %w", err)
	}
	if err := errors.Join(p.describe(), p.attach(tellsSocket(types)), p.watch(signature)); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// size fits the maps to the chain, and sets what is constant.
func (p *probe) size(spec *ebpf.CollectionSpec, signature uint32) error {
	points := uint32(len(p.view.points))
	spec.Maps["points"].MaxEntries = points
	spec.Maps["passed"].MaxEntries = points
	spec.Maps["times"].MaxEntries = points * uint32(p.samples)
	spec.Maps["namespaces"].MaxEntries = uint32(len(p.view.timed()))
	spec.Maps["spent"].MaxEntries = uint32(len(p.view.timed())) + 1
	return p.set(spec, signature, 0)
}

// set what is constant for a program, which is at a point if it is a socket's.
func (p *probe) set(spec *ebpf.CollectionSpec, signature, point uint32) error {
	for name, value := range map[string]uint32{"signature": signature, "stride": uint32(p.stride), "samples": uint32(p.samples), "point": point} {
		if err := spec.Variables[name].Set(value); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}

// describe tells the programs of the chain.
func (p *probe) describe() error {
	for i, at := range p.view.points {
		if at.handed {
			continue
		}
		key := bpf.ProgramPoint{Netns: at.inode, Ifindex: at.index}
		if at.out {
			key.Out = 1
		}
		if err := p.objects.Points.Put(key, uint32(i)); err != nil {
			return err
		}
	}
	for i, inode := range p.view.timed() {
		if err := p.objects.Namespaces.Put(inode, uint32(i)); err != nil {
			return err
		}
	}
	return nil
}

// tellsSocket tells whether this kernel says of a packet that ends which socket it was
// for: its tracepoint then has a fifth argument, the first being its own.
func tellsSocket(types *btf.Spec) bool {
	var hook *btf.Typedef
	if types.TypeByName("btf_trace_kfree_skb", &hook) != nil {
		return false
	}
	pointer, ok := btf.UnderlyingType(hook).(*btf.Pointer)
	if !ok {
		return false
	}
	proto, ok := pointer.Target.(*btf.FuncProto)
	return ok && len(proto.Params) > 4
}

func (p *probe) attach(socket bool) error {
	ended := p.objects.Ended
	if socket {
		ended = p.objects.EndedAtSocket
	}
	hooks := []hook{
		{"kfree_skb", ended, false},
		{"xdp_exception", p.objects.FrameException, true},
		{"xdp_bulk_tx", p.objects.FramesBack, true},
		{"xdp_devmap_xmit", p.objects.FramesOn, true},
		{"xdp_redirect_err", p.objects.FrameNowhere, true},
	}
	if p.marked {
		hooks = append(hooks, hook{"netif_receive_skb", p.objects.Receive, false}, hook{"net_dev_start_xmit", p.objects.Transmit, false})
	}
	if p.softirq {
		hooks = append(hooks, hook{"softirq_entry", p.objects.SoftirqBegins, false}, hook{"softirq_exit", p.objects.SoftirqEnds, false},
			hook{"netif_receive_skb", p.objects.SoftirqTakes, false})
	}
	for _, h := range hooks {
		l, err := h.attach()
		if err != nil && !h.optional {
			return fmt.Errorf("attach to the kernel's tracepoint %s: %w", h.name, err)
		}
		if err == nil {
			p.links = append(p.links, l)
		}
	}
	return nil
}

// attach a program. The kernel vouches for what some programs are given, and they look
// without asking it each time.
func (h hook) attach() (link.Link, error) {
	if h.program.Type() == ebpf.Tracing {
		return link.AttachTracing(link.TracingOptions{Program: h.program})
	}
	return link.AttachRawTracepoint(link.RawTracepointOptions{Name: h.name, Program: h.program})
}

// hook is a program and its tracepoint, which a kernel without XDP may lack.
type hook struct {
	name     string
	program  *ebpf.Program
	optional bool
}

func (p *probe) close() {
	for _, l := range p.links {
		_ = l.Close()
	}
	for _, fd := range p.sockets {
		_ = unix.Close(fd)
	}
	_ = p.objects.Close()
}

// ownDrops counts our packets that ended, for who waits for them: where only a copy
// ended, the packet itself is still under way.
func (p *probe) ownDrops() (n uint64, err error) {
	err = p.eachDrop(func(c bpf.ProgramCause, a Amount) {
		if c.Own != 0 && !p.view.copied(c.Netns, c.Reason) {
			n += a.Packets
		}
	})
	return n, err
}

func (p *probe) eachDrop(visit func(bpf.ProgramCause, Amount)) error {
	var cause bpf.ProgramCause
	var each []bpf.ProgramAmount
	all := p.objects.Drops.Iterate()
	for all.Next(&cause, &each) {
		if !p.view.took(cause) {
			visit(cause, sum(each))
		}
	}
	return all.Err()
}

func sum(each []bpf.ProgramAmount) (a Amount) {
	for _, c := range each {
		a.Packets += c.Packets
		a.Bytes += c.Bytes
	}
	return a
}

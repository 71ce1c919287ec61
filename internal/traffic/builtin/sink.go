package builtin

import (
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/sink"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/ethtool"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/resource/through"
)

// meter is a sink in the kernel.
type meter struct {
	objects sink.ProgramObjects
	flows   int
	cpus    int
	link    io.Closer
	// native tells that packets are taken by XDP in the driver, before the stack.
	native bool
}

// meterOptions say what a sink takes, and where.
type meterOptions struct {
	netns     string
	device    netlink.Link
	signature uint32
	// flows that packets are of in turn; fewer than two are not counted apart.
	flows int
	// ports that the packets go to, for which the stack must have no answer.
	ports []int
	// bare only counts, for measuring what binning costs.
	bare  bool
	steps steps
}

// receiving is a sink.
type receiving interface {
	// begin the steps of a trial at a time, ns.
	begin(at uint64) error
	// soFar is what was counted until now.
	soFar() (sink.ProgramCount, error)
	// outcome of what came, and of how much of it on a core, if one is named.
	outcome(o *outcome, core int) error
	close()
}

// newReceiver is a sink in the kernel, or a packet socket where BPF is refused or has no place.
func newReceiver(o meterOptions) (receiving, error) {
	m, err := newMeter(o)
	if err == nil {
		return m, nil
	}
	if !refused(err) {
		return nil, err
	}
	s, err := newPacketSink(o)
	if err != nil {
		return nil, err // and no receiver that is a nil sink
	}
	return s, nil
}

// refused tells whether a machine lets this process load no programs, or its kernel has no place for
// them behind drivers: tcx is of Linux 6.6.
func refused(err error) bool {
	return errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, ebpf.ErrNotSupported)
}

// soFar is what was counted until now.
func (m *meter) soFar() (sink.ProgramCount, error) { return m.count() }

// newMeter loads a sink and attaches it. It goes with its descriptors, and so with
// the process, however that ends. XDP takes packets of one queue one after the other;
// in the stack several cores may meet, and the sink locks what they share.
func newMeter(o meterOptions) (*meter, error) {
	native := error(errSteered)
	if !steered(o) {
		m, err := loadMeter(o, !oneQueue(o.netns, o.device.Attrs().Name))
		if err != nil {
			return nil, err
		}
		if native = netns.Do(o.netns, func() error { return m.attachXDP(o.device.Attrs().Index) }); native == nil {
			return m, nil
		}
		m.close()
	}
	m, err := loadMeter(o, true)
	if err != nil {
		return nil, err
	}
	if err := netns.Do(o.netns, func() error { return m.attachTCX(o.device.Attrs().Index) }); err != nil {
		m.close()
		return nil, fmt.Errorf("attach the packet sink to %s in %q: %w", o.device.Attrs().Name, o.netns, errors.Join(native, err))
	}
	return m, nil
}

// errSteered is why a meter does not take packets in the driver.
var errSteered = errors.New("a program at its far end hands packets to the interface behind its driver")

// steered tells whether packets come to the device behind its driver, from a port of a
// forwarder or through a function, so that XDP there never sees them.
func steered(o meterOptions) bool {
	h, err := netns.Open(o.netns)
	if err != nil {
		return false
	}
	defer h.Close()
	if o.device.Type() != "veth" || o.device.Attrs().NetNsID < 0 {
		return false
	}
	ref, err := peerNamespace(h, o.device, "")
	if err != nil {
		return false
	}
	far, err := netns.Open(ref)
	if err != nil {
		return false
	}
	defer far.Close()
	at, index := resource.Place{Handle: far}, o.device.Attrs().ParentIndex
	if is, err := steer.Steered(at, index); err != nil || is {
		return err == nil
	}
	is, err := through.Hands(at, index)
	return err == nil && is
}

// oneQueue tells whether a device is known to receive on one queue.
func oneQueue(ref, device string) bool {
	s, err := ethtool.Open(ref)
	if err != nil {
		return false
	}
	defer s.Close()
	n, err := s.ReceiveQueues(device)
	return err == nil && n == 1
}

func loadMeter(o meterOptions, locked bool) (*meter, error) {
	spec, err := sink.LoadProgram()
	if err != nil {
		return nil, err
	}
	m := &meter{flows: max(1, o.flows), cpus: ebpf.MustPossibleCPU()}
	spec.Maps["counts"].MaxEntries = uint32(m.cpus)
	spec.Maps["flow_counts"].MaxEntries = uint32(m.flows)
	for name, v := range map[string]uint32{
		"signature": o.signature, "flows": uint32(m.flows), "binned": flag(!o.bare), "locked": flag(locked),
	} {
		if err := spec.Variables[name].Set(v); err != nil {
			return nil, fmt.Errorf("packet sink: set %s: %w", name, err)
		}
	}
	scale, unit := o.steps.scale()
	for name, v := range map[string]uint64{"scale": scale, "unit": unit} {
		if err := spec.Variables[name].Set(v); err != nil {
			return nil, fmt.Errorf("packet sink: set %s: %w", name, err)
		}
	}
	if err := spec.LoadAndAssign(&m.objects, nil); err != nil {
		return nil, fmt.Errorf("load the packet sink: %w", err)
	}
	return m, nil
}

// attachXDP takes packets in the driver, before the stack.
func (m *meter) attachXDP(device int) error {
	l, err := link.AttachXDP(link.XDPOptions{Program: m.objects.Sink, Interface: device, Flags: link.XDPDriverMode})
	if err == nil {
		m.link, m.native = l, true
	}
	return err
}

// attachTCX takes packets at the entrance of the stack.
func (m *meter) attachTCX(device int) error {
	l, err := link.AttachTCX(link.TCXOptions{Program: m.objects.SinkSkb, Interface: device, Attach: ebpf.AttachTCXIngress, Anchor: link.Head()})
	if err == nil {
		m.link = l
	}
	return err
}

// count adds up what the cores counted.
func (m *meter) count() (total sink.ProgramCount, err error) {
	for cpu := range m.cpus {
		var c sink.ProgramCount
		if err := m.objects.Counts.Lookup(uint32(cpu), &c); err != nil {
			return total, fmt.Errorf("read the packet sink: %w", err)
		}
		total = merged(total, c)
	}
	return total, nil
}

// on a core, how many packets were counted.
func (m *meter) on(core int) (uint64, error) {
	var c sink.ProgramCount
	err := m.objects.Counts.Lookup(uint32(core), &c)
	return c.Packets, err
}

// merged adds two counts up.
func merged(a, b sink.ProgramCount) sink.ProgramCount {
	switch {
	case b.Packets == 0:
		a.Damaged += b.Damaged
		return a
	case a.Packets == 0:
		b.Damaged += a.Damaged
		return b
	}
	a.Damaged += b.Damaged
	a.Packets, a.Bytes, a.Payload, a.Early, a.Sum = a.Packets+b.Packets, a.Bytes+b.Bytes, a.Payload+b.Payload, a.Early+b.Early, a.Sum+b.Sum
	a.First, a.Last = min(a.First, b.First), max(a.Last, b.Last)
	if a.Low == 0 || b.Low > 0 && b.Low < a.Low {
		a.Low = b.Low
	}
	a.High, a.Tag = max(a.High, b.High), max(a.Tag, b.Tag)
	a.StepLow, a.StepHigh = min(a.StepLow, b.StepLow), max(a.StepHigh, b.StepHigh)
	for i := range a.Latency {
		a.Latency[i] += b.Latency[i]
		a.Up[i] += b.Up[i]
		a.Down[i] += b.Down[i]
	}
	mergedParts(&a, &b)
	return a
}

// order of the packets.
func (m *meter) order() (*sink.ProgramOrder, error) {
	o := new(sink.ProgramOrder)
	if err := m.objects.Orders.Lookup(uint32(0), o); err != nil {
		return nil, fmt.Errorf("read the packet sink: %w", err)
	}
	return o, nil
}

// byFlow is how many first copies of each flow came; none where there is one flow.
func (m *meter) byFlow() ([]uint64, error) {
	if m.flows < 2 {
		return nil, nil
	}
	keys, n := make([]uint32, m.flows), make([]uint64, m.flows)
	var at ebpf.MapBatchCursor
	if _, err := m.objects.FlowCounts.BatchLookup(&at, keys, n, nil); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return nil, fmt.Errorf("read the packet sink, flow by flow: %w", err)
	}
	return n, nil
}

// begin the steps of a trial at a time.
func (m *meter) begin(at uint64) error { return m.objects.Origin.Set(at) }

// strangers are packets that were not ours.
func (m *meter) strangers() (n uint64, err error) {
	err = m.objects.Strangers.Get(&n)
	return n, err
}

func (m *meter) close() {
	if m.link != nil {
		_ = m.link.Close()
	}
	_ = m.objects.Close()
}

package plan

import (
	"fmt"
	"strconv"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/tuning"
	"nfchain.dev/nfchain/internal/wiring"
	"nfchain.dev/nfchain/internal/words"
)

// tune sets the chain's interfaces, whatever the wiring makes them of, and TCP in its
// namespaces.
func (b *builder) tune(all []hop, joined wiring.Joined) error {
	t := b.chain.Spec.Tuning
	// Softirqs of what lies between nodes are no node's: where they are not shared they
	// stay on the CPU of the node that sent.
	between := t
	if cpus := b.chain.Spec.Placement.Softirqs.Shared; cpus != "" {
		between = steered(t, cpus)
	}
	at := interfaceSettings(between)
	done := map[[2]string]bool{}
	for i, h := range all {
		b.tunePort(h.a, h.pa, nodeSettings(b.placed(t, h.a.Name), h.a), joined.Ends[i].A, done)
		b.tunePort(h.z, h.pz, nodeSettings(b.placed(t, h.z.Name), h.z), joined.Ends[i].B, done)
	}
	b.tuneBetween(joined.Resources, at, done)
	return b.tuneNamespaces(namespaceSettings(t))
}

// placed is the tuning of a node's interfaces with the CPUs of its softirqs.
func (b *builder) placed(t api.Tuning, node string) api.Tuning {
	if b.placement == nil || b.placement.Softirqs[node] == "" {
		return t
	}
	return steered(t, b.placement.Softirqs[node])
}

func steered(t api.Tuning, cpus string) api.Tuning {
	t.RPS = cpus
	return t
}

func (b *builder) tunePort(n Node, p Interface, settings []tuning.Setting, needs string, done map[[2]string]bool) {
	key := [2]string{n.Namespace, p.Device}
	if len(settings) == 0 || done[key] {
		return
	}
	done[key] = true
	b.add(resource.New(n.Namespace, tuning.Spec{Device: p.Device, Settings: settings}, needs))
}

// between is a resource of a wiring that makes interfaces which packets pass between the
// nodes' own.
type between interface{ Interfaces() []resource.Interface }

// tuneBetween sets what a wiring has between the nodes as it sets the nodes' own: a
// super-packet is cut at the first interface that does not take it whole.
func (b *builder) tuneBetween(made []resource.Resource, settings []tuning.Setting, done map[[2]string]bool) {
	if len(settings) == 0 {
		return
	}
	for _, r := range made {
		s, is := r.Spec.(between)
		if !is {
			continue
		}
		for _, i := range s.Interfaces() {
			if key := [2]string{i.Namespace, i.Device}; !done[key] {
				done[key] = true
				b.add(resource.New(i.Namespace, tuning.Spec{Device: i.Device, Settings: settings}, r.ID))
			}
		}
	}
}

// tuneNamespaces sets what connections start from. A namespace that the chain does not
// make is not its own to set, and to leave one out would not be what was asked for.
func (b *builder) tuneNamespaces(settings []tuning.Setting) error {
	if len(settings) == 0 {
		return nil
	}
	for _, n := range b.nodes {
		if !n.Made {
			return fmt.Errorf("tuning.%s: namespace %s of %s is not the chain's own, so its TCP is not set; leave the field out, or have the chain make the namespace",
				settings[0].Knob, n.Namespace, n.Name)
		}
		b.add(resource.New(n.Namespace, tuning.Spec{Device: tuning.Loopback, Settings: settings}, need(n)...))
	}
	return nil
}

// settings collects the knobs that a file sets.
type settings []tuning.Setting

func (s *settings) text(knob, value string) {
	if value != "" {
		*s = append(*s, tuning.Setting{Knob: knob, Value: value})
	}
}

func (s *settings) flag(knob string, on *bool) {
	if on != nil {
		s.text(knob, strconv.FormatBool(*on))
	}
}

func (s *settings) number(knob string, n uint64) {
	if n > 0 {
		s.text(knob, strconv.FormatUint(n, 10))
	}
}

func (s *settings) sizes(knob string, all []api.Size) {
	var words []string
	for _, size := range all {
		words = append(words, strconv.FormatUint(uint64(size), 10))
	}
	s.text(knob, strings.Join(words, " "))
}

// cores puts a list of CPUs into its one form.
func (s *settings) cores(knob, list string) {
	if cpus, err := api.ParseCPUList(list); err == nil {
		list = words.Ranges(cpus)
	}
	s.text(knob, list)
}

func interfaceSettings(t api.Tuning) []tuning.Setting {
	var s settings
	s.number("rx_queues", uint64(t.RxQueues))
	s.number("tx_queues", uint64(t.TxQueues))
	s.flag("checksum", t.Checksum)
	s.flag("scatter_gather", t.ScatterGather)
	s.flag("tso", t.TSO)
	s.flag("gso", t.GSO)
	s.flag("gro", t.GRO)
	s.flag("udp_gro_forwarding", t.UDPGROForwarding)
	s.number("gso_max_size", uint64(t.GSOMaxSize))
	s.number("gro_max_size", uint64(t.GROMaxSize))
	s.number("gso_ipv4_max_size", uint64(t.GSOIPv4MaxSize))
	s.number("gro_ipv4_max_size", uint64(t.GROIPv4MaxSize))
	s.flag("threaded_napi", t.ThreadedNAPI)
	s.cores("rps", t.RPS)
	s.cores("xps", t.XPS)
	return s
}

// nodeSettings are those of a node's interfaces: no route leads over what has no address.
func nodeSettings(t api.Tuning, n Node) []tuning.Setting {
	if n.Transparent {
		return interfaceSettings(t)
	}
	return append(interfaceSettings(t), routeSettings(t)...)
}

// routeSettings are those that only an interface with addresses has.
func routeSettings(t api.Tuning) []tuning.Setting {
	var s settings
	s.number("tcp_mss", uint64(t.TCPMSS))
	return s
}

func namespaceSettings(t api.Tuning) []tuning.Setting {
	var s settings
	s.text("tcp_congestion_control", t.TCPCongestionControl)
	s.flag("tcp_window_scaling", t.TCPWindowScaling)
	s.sizes("tcp_rmem", t.TCPRmem)
	s.sizes("tcp_wmem", t.TCPWmem)
	return s
}

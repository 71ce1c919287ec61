package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/tuning"
	"nfchain.dev/nfchain/internal/wiring"
	"nfchain.dev/nfchain/internal/words"
)

// tune sets the chain's interfaces, whatever the wiring makes them of, and TCP in its
// namespaces.
func (b *builder) tune(all []hop, joined wiring.Joined) error {
	t := b.chain.Spec.Tuning
	done := map[[2]string]bool{}
	for i, h := range all {
		b.tunePort(h.a, h.pa, with(nodeSettings(t, h.a, b.softirqs(h.a.Name)), append(drives(h.a, h.z), b.uncut(h.a, h.z)...)), joined.Ends[i].A, done)
		b.tunePort(h.z, h.pz, with(nodeSettings(t, h.z, b.softirqs(h.z.Name)), append(drives(h.z, h.a), b.uncut(h.z, h.a)...)), joined.Ends[i].B, done)
	}
	if err := b.tuneBetween(joined.Resources, t, done); err != nil {
		return err
	}
	if inThreads(t) && !b.chain.Spec.Placement.Softirqs.Any() {
		b.requires[feature.NAPIThreads] = true
	}
	return b.tuneNamespaces(namespaceSettings(t))
}

// with further settings, of knobs that may be among the others with the same value.
func with(all, further []tuning.Setting) []tuning.Setting {
	for _, s := range further {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// softirqs are the CPUs that handle what a node's interfaces receive, "" where it is not said.
func (b *builder) softirqs(node string) string {
	if b.placement == nil {
		return ""
	}
	return b.placement.Softirqs[node]
}

// softirqsBetween are those of what lies between nodes. Its softirqs are no node's: where they
// are not shared they stay on the CPU of the node that sent. Threads would not.
func (b *builder) softirqsBetween() (string, error) {
	asked := b.chain.Spec.Placement.Softirqs
	if asked.Exclusive && inThreads(b.chain.Spec.Tuning) {
		return b.between()
	}
	return asked.Shared, nil
}

// inThreads tells that packets are taken off queues by threads.
func inThreads(t api.Tuning) bool { return t.ThreadedNAPI != nil && *t.ThreadedNAPI }

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
func (b *builder) tuneBetween(made []resource.Resource, t api.Tuning, done map[[2]string]bool) error {
	for _, r := range made {
		s, is := r.Spec.(between)
		if !is {
			continue
		}
		for _, i := range s.Interfaces() {
			key := [2]string{i.Namespace, i.Device}
			if done[key] {
				continue
			}
			done[key] = true
			cpus, err := b.softirqsBetween()
			if err != nil {
				return err
			}
			settings := interfaceSettings(t, cpus)
			if sends(i) {
				settings = complete(settings)
			}
			if len(settings) > 0 {
				b.add(resource.New(i.Namespace, tuning.Spec{Device: i.Device, Settings: settings}, r.ID))
			}
		}
	}
	return nil
}

// tuneNamespaces sets what connections start from. A namespace that the chain does not
// make is not its own to set, and to leave one out would not be what was asked for.
func (b *builder) tuneNamespaces(settings []tuning.Setting) error {
	if len(settings) == 0 {
		return nil
	}
	for _, n := range b.nodes {
		if !n.Made || n.Brought {
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

// interfaceSettings are those of any interface. What it receives is handled by these CPUs,
// where they are said: packets are steered to them, and threads bound.
func interfaceSettings(t api.Tuning, cpus string) []tuning.Setting {
	if cpus != "" && !inThreads(t) {
		t.RPS = cpus
	}
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
	if inThreads(t) {
		s.cores(tuning.NAPICPUs, cpus)
	}
	s.cores("rps", t.RPS)
	s.cores("xps", t.XPS)
	return s
}

// nodeSettings are those of a node's interfaces: no route leads over what has no address.
func nodeSettings(t api.Tuning, n Node, cpus string) []tuning.Setting {
	if n.Transparent {
		return interfaceSettings(t, cpus)
	}
	return append(interfaceSettings(t, cpus), routeSettings(t)...)
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

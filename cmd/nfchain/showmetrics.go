package main

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"nfchain.dev/nfchain/internal/observe/told"
	"nfchain.dev/nfchain/internal/report"
	"nfchain.dev/nfchain/internal/resource/process"
	runs "nfchain.dev/nfchain/internal/run"
)

// metricsOf writes a chain or function as it is now for a collector: whether it is up, what its interfaces, programs and functions did and where flows
// go, and what programs tell of their work, under the names that they give it.
func metricsOf(w io.Writer, s runs.State) error {
	m := &stateMetrics{of: map[string]described{}, at: map[string]int{}}
	m.add("nfchain_up", "One where all is as planned.", prometheus.GaugeValue, s.Chain, one(asPlanned(s.State)), nil)
	for _, n := range s.Nodes {
		m.node(s.Chain, n)
	}
	m.hops(s)
	m.inline(s)
	m.flows(s)
	for _, t := range s.Taps {
		m.tap(s.Chain, t)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	return report.WriteOpenMetrics(w, registry)
}

// stateMetrics are what a registry gathers once.
type stateMetrics struct {
	all []sample
	// at is where each is among them, by its name and labels.
	at map[string]int
	// of each name, without a counter's end, is what is said of it first: nodes may say different things, and a collector wants one.
	of map[string]described
}

type sample struct {
	of     *prometheus.Desc
	is     prometheus.ValueType
	value  float64
	labels []string
}

type described struct {
	help string
	is   prometheus.ValueType
}

// Describe implements prometheus.Collector: what there is follows from what programs tell.
func (*stateMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (m *stateMetrics) Collect(to chan<- prometheus.Metric) {
	for _, one := range m.all {
		to <- prometheus.MustNewConstMetric(one.of, one.is, one.value, one.labels...)
	}
}

// add to the number of that name and labels: what is told twice is told as one, such as packets that two ports of a node sent on to another.
func (m *stateMetrics) add(name, help string, is prometheus.ValueType, chain string, value float64, labels told.Labels) {
	stem := strings.TrimSuffix(name, "_total")
	if _, known := m.of[stem]; !known {
		m.of[stem] = described{help, is}
	}
	d := m.of[stem]
	if d.is == prometheus.CounterValue {
		name = stem + "_total"
	}
	names := append([]string{"chain"}, slices.Sorted(maps.Keys(labels))...)
	values := []string{chain}
	for _, name := range names[1:] {
		values = append(values, labels[name])
	}
	key := strings.Join(slices.Concat([]string{name}, names, values), "\x00")
	if i, is := m.at[key]; is {
		m.all[i].value += value
		return
	}
	m.at[key] = len(m.all)
	m.all = append(m.all, sample{prometheus.NewDesc(name, d.help, names, nil), d.is, value, values})
}

// counter is one of several that are of the same thing.
type counter struct {
	name, help string
	value      uint64
}

// counters whose names begin with the same words.
func (m *stateMetrics) counters(of, chain string, labels told.Labels, all []counter) {
	for _, c := range all {
		m.add(of+c.name+"_total", c.help, prometheus.CounterValue, chain, float64(c.value), labels)
	}
}

// gauge is a number that goes up and down.
func (m *stateMetrics) gauge(name, help, chain string, value float64, labels told.Labels) {
	m.add(name, help, prometheus.GaugeValue, chain, value, labels)
}

func (m *stateMetrics) node(chain string, n runs.NodeState) {
	node := told.Labels{"node": n.Name}
	m.add("nfchain_node_up", "One where all of the node is as planned.", prometheus.GaugeValue, chain, one(asPlanned(n.State)), node)
	for _, c := range n.Interfaces {
		at := told.Labels{"node": n.Name, "interface": c.Interface}
		m.counters("nfchain_interface_", chain, at, []counter{
			{"receive_packets", "Packets that came in by the interface.", c.RxPackets},
			{"receive_bytes", "Bytes that came in by the interface.", c.RxBytes},
			{"transmit_packets", "Packets that went out by the interface.", c.TxPackets},
			{"transmit_bytes", "Bytes that went out by the interface.", c.TxBytes},
			{"dropped", "Packets that the interface dropped.", c.RxDropped + c.TxDropped},
			{"errors", "Errors of the interface.", c.RxErrors + c.TxErrors},
		})
	}
	m.did(chain, n)
	if h := n.Health; h != nil {
		m.add("nfchain_failures_total", "How often a function failed since it is watched.", prometheus.CounterValue, chain, float64(h.Failures), node)
	}
	m.program(chain, node, n.Program, n.Told)
	for _, f := range n.Functions {
		m.program(chain, told.Labels{"node": n.Name, "function": f.Name}, f.Program, f.Told)
	}
}

// program of a node, or of a function that shares it, and what it tells.
func (m *stateMetrics) program(chain string, of told.Labels, program *process.Status, tells *told.Told) {
	if program == nil {
		return
	}
	m.add("nfchain_program_ready", "One where the program is ready.", prometheus.GaugeValue, chain, one(program.State == process.Running), of)
	m.add("nfchain_program_restarts_total", "How often the program was started again.", prometheus.CounterValue, chain, float64(program.Restarts), of)
	if tells == nil {
		return
	}
	m.add("nfchain_program_tells", "One where what the program tells can be taken.", prometheus.GaugeValue, chain, one(tells.Error == ""), of)
	types := map[string]prometheus.ValueType{told.Counter: prometheus.CounterValue, told.Gauge: prometheus.GaugeValue, told.Unknown: prometheus.UntypedValue}
	for _, f := range tells.Families {
		for _, v := range f.Values {
			labels := maps.Clone(v.Labels)
			maps.Copy(labels, of)
			m.add(f.Name, f.Help, types[f.Type], chain, v.Value, labels)
		}
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// asPlanned tells whether a chain or a node in a state is as planned, whatever its programs do: these have metrics of their own.
func asPlanned(state string) bool { return state == runs.StateUp || state == runs.StateFailing }

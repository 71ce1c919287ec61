package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/observe"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/machine"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/trial"
)

// LoadOver is how long the machine is watched before anything is made: long enough
// to see who else works, by ticks of a hundredth of a second.
const LoadOver = 500 * time.Millisecond

// noteLoad stores how busy the machine is before the first trial of a run.
func (m *Measurement) noteLoad(ctx context.Context, r *trial.Run) error {
	if r.Environment.LoadBefore != nil {
		return nil
	}
	r.Environment.LoadBefore = observe.Load(ctx, "", LoadOver)
	return m.Store.SetMachine(context.WithoutCancel(ctx), r.ID, r.Environment, r.Setups)
}

// noteSetup reads back the chain that was brought up for a condition and stores
// it, once for each chain. It refuses nothing: what cannot be read is said.
func (m *Measurement) noteSetup(ctx context.Context, condition int, r *trial.Run) error {
	s := ReadSetup(m.up)
	for i := range r.Conditions {
		if alike(m.Chains[i], m.Chains[condition]) {
			s.Conditions = append(s.Conditions, i)
		}
	}
	if slices.ContainsFunc(r.Setups, func(known trial.Setup) bool { return alike(known, s) }) {
		return nil
	}
	r.Setups = append(r.Setups, s)
	if err := m.Store.SetMachine(context.WithoutCancel(ctx), r.ID, r.Environment, r.Setups); err != nil {
		return err
	}
	return m.tellRuntimes(ctx, r)
}

// tellRuntimes has the reader know what functions are measured as that leave it to nfchain.
func (m *Measurement) tellRuntimes(ctx context.Context, r *trial.Run) error {
	text := fmt.Sprintf("runtime %s: %s; what is measured stays so", api.RuntimeAuto, m.up.Chose())
	if len(m.up.Runtimes) == 0 || slices.Contains(r.Warnings, text) {
		return nil
	}
	r.Warnings = append(r.Warnings, text)
	return m.Store.SetWarnings(context.WithoutCancel(ctx), r.ID, r.Warnings)
}

// chosen are the runtimes that functions of a condition's chain have which leave it to nfchain: those that they had when it was first
// made in this run, or with which it is up already. What is measured is not turned into something else, whatever the machine
// has become meanwhile.
func (m *Measurement) chosen(condition int, r *trial.Run) map[string]string {
	for _, s := range r.Setups {
		if slices.Contains(s.Conditions, condition) && len(s.Runtimes) > 0 {
			return s.Runtimes
		}
	}
	if !m.Keep {
		return nil
	}
	is, err := remembered(m.Chains[condition].Metadata.Name)
	if err != nil { // it is not up
		return nil
	}
	return is.Runtimes
}

// ReadSetup reads back how a chain that is up is set.
func ReadSetup(p *plan.Plan) trial.Setup {
	s := trial.Setup{Wiring: p.Wiring, WiringSettings: p.Settings, Length: p.Length(), Plan: digest(p), Runtimes: p.Runtimes, Settings: map[string]string{}, Nodes: map[string]int{}}
	for _, n := range p.Nodes {
		s.Nodes[n.KindText()]++
	}
	for _, f := range p.Inline {
		s.Nodes["inline "+f.Kind]++
	}
	read := &readback{settings: map[string][]string{}}
	for _, ns := range append(p.Namespaces(), netns.Host) {
		if err := read.namespace(p, ns); err != nil {
			s.Unread = append(s.Unread, err.Error())
		}
	}
	s.Interfaces = read.groups
	for name, values := range read.settings {
		slices.Sort(values)
		s.Settings[name] = strings.Join(slices.Compact(values), ", ")
	}
	for _, r := range p.Resources {
		if m, is := r.Spec.(machine.Spec); is {
			s.Settings["machine."+m.Key()] = machine.Current(m)
		}
	}
	if p.Placement != nil { // Up has read it back from every program
		for name, nodes := range p.Placement.Memory {
			s.Settings["placement."+name+".memory_nodes"] = fmt.Sprint(nodes)
		}
	}
	return s
}

// digest tells plans apart.
func digest(p *plan.Plan) string {
	text, err := json.Marshal(p)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// chainSettings are the settings that each network namespace has of its own and
// that move what passes through it.
var chainSettings = []string{
	"net.ipv4.conf.all.rp_filter",
	"net.ipv4.fib_multipath_hash_policy",
	"net.ipv4.ip_early_demux",
	"net.ipv4.ip_forward",
	"net.ipv4.tcp_autocorking",
	"net.ipv4.tcp_congestion_control",
	"net.ipv4.tcp_early_demux",
	"net.ipv4.tcp_ecn",
	"net.ipv4.tcp_limit_output_bytes",
	"net.ipv4.tcp_mtu_probing",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_sack",
	"net.ipv4.tcp_slow_start_after_idle",
	"net.ipv4.tcp_timestamps",
	"net.ipv4.tcp_window_scaling",
	"net.ipv4.tcp_wmem",
	"net.ipv4.udp_early_demux",
	"net.ipv6.conf.all.forwarding",
	"net.netfilter.nf_conntrack_max",
}

// readSettings reads them in a namespace of the chain; those that this kernel lacks
// are left out.
func (b *readback) readSettings(h *netns.Handle) error {
	return h.Do(func() error {
		for _, name := range chainSettings {
			text, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(name, ".", "/"))
			if err == nil {
				b.settings[name] = append(b.settings[name], strings.Join(strings.Fields(string(text)), " "))
			}
		}
		return nil
	})
}

// nodeOf names what lives in a namespace.
func nodeOf(p *plan.Plan, ref string) string {
	if ref == netns.Host {
		return "host"
	}
	for _, n := range p.Nodes {
		if n.Namespace == ref {
			return n.Name
		}
	}
	if ref == namespace.Name(p.Chain, plan.WiringNode) {
		return "wiring"
	}
	return fmt.Sprintf("namespace %s", ref)
}

package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/observe/told"
	"nfchain.dev/nfchain/internal/resource/ruleset"
	runs "nfchain.dev/nfchain/internal/run"
)

// with are labels and one more, where that says something.
func with(labels told.Labels, name, value string) told.Labels {
	if value == "" {
		return labels
	}
	all := told.Labels{name: value}
	for name, value := range labels {
		all[name] = value
	}
	return all
}

// did is what functions at a node did with packets.
func (m *stateMetrics) did(chain string, n runs.NodeState) {
	node := told.Labels{"node": n.Name}
	m.rules(chain, node, n.Rules, n.Dropped)
	if c := n.Connections; c != nil {
		m.gauge("nfchain_tracked_connections", "Connections that the kernel of a node tracks.", chain, float64(c.Tracked), node)
		m.counters("nfchain_tracked_connections_", chain, node, []counter{
			{"evicted", "Connections that made room for others in what a kernel tracks.", c.Evicted},
			{"dropped_packets", "Packets that would have begun a connection for which there was no room.", c.Dropped},
		})
	}
	for _, f := range n.Functions {
		m.rules(chain, with(node, "function", f.Name), nil, f.Dropped)
	}
	for _, p := range n.Passes {
		at := with(node, "interface", p.Interface)
		for _, s := range p.Steps {
			m.step(chain, with(at, "function", s.Function), s)
		}
		m.odd(chain, at, p)
	}
	for _, t := range n.Through {
		at := told.Labels{"node": n.Name, "interface": t.Interface, "to": t.To, "direction": t.Direction}
		m.tally("nfchain_passed_on", "that programs handed on from one interface to another", chain, at, t.Tally)
	}
	for _, i := range n.Impairments {
		m.counters("nfchain_impairment_", chain, with(node, "direction", i.Direction), []counter{
			{"seen_packets", "Packets that came to the impairment.", i.Seen},
			{"unread_packets", "Packets that were lost before it, as it was not there or too slow.", i.Unread},
			{"dropped_packets", "Packets that it dropped, as was asked for.", i.Dropped},
			{"duplicated_packets", "Packets that it duplicated.", i.Duplicated},
			{"reordered_packets", "Packets that it had others overtake.", i.Reordered},
			{"delayed_packets", "Packets that it delayed.", i.Delayed},
			{"overflowed_packets", "Packets that were dropped as the limit of those held was reached.", i.Overflowed},
			{"given_up_packets", "Packets that were let go as too few came that could overtake them.", i.GivenUp},
			{"left_packets", "Packets that went on.", i.Left},
			{"refused_packets", "Packets that the kernel did not take back.", i.Refused},
			{"unstamped_packets", "Packets that are late by more than is known, as the kernel did not tell when they came.", i.Unstamped},
		})
	}
	if n.NSH == nil {
		return
	}
	for _, way := range []struct {
		direction api.Direction
		runs.NSHWay
	}{{api.Forward, n.NSH.Forward}, {api.Reverse, n.NSH.Reverse}} {
		at := with(node, "direction", string(way.direction))
		m.counters("nfchain_nsh_", chain, at, []counter{
			{"given_frames", "Frames with a header (RFC 8300) that the function was given.", way.Given},
			{"back_frames", "Frames that it gave back and that went on.", way.Back},
		})
		for reason, value := range map[string]uint64{"plain": way.Dropped.Plain, "malformed": way.Dropped.Malformed, "unknown": way.Dropped.Unknown} {
			m.counters("nfchain_nsh_", chain, with(at, "reason", reason), []counter{{"dropped_frames", "Frames that it gave back and that did not go on.", value}})
		}
	}
}

// tally is packets and bytes of something.
func (m *stateMetrics) tally(name, what, chain string, labels told.Labels, t runs.Tally) {
	m.counters(name+"_", chain, labels, []counter{{"packets", "Packets " + what + ".", t.Packets}, {"bytes", "Bytes of packets " + what + ".", t.Bytes}})
}

// rules of a firewall, and what its policy dropped.
func (m *stateMetrics) rules(chain string, of told.Labels, rules []ruleset.Counter, dropped *ruleset.Dropped) {
	for _, r := range rules {
		at := with(with(with(of, "function", r.Function), "verdict", r.Verdict), "comment", r.Comment)
		m.tally("nfchain_rule", "that matched a rule of a firewall", chain, with(at, "rule", strconv.Itoa(r.Rule)), runs.Tally{Packets: r.Packets, Bytes: r.Bytes})
	}
	if dropped != nil {
		m.tally("nfchain_policy_dropped", "that a firewall's policy dropped, as no rule decided", chain, of, runs.Tally{Packets: dropped.Packets, Bytes: dropped.Bytes})
	}
}

// step of a function that is inline.
func (m *stateMetrics) step(chain string, of told.Labels, s runs.StepState) {
	of = with(of, "act", s.Act)
	m.tally("nfchain_step", "that a function counted, marked, dropped, copied or translated, by what its step is for", chain, of, s.Tally)
	switch s.Act {
	case "mirror":
		m.counters("nfchain_mirror_", chain, of, []counter{{"lost_copies", "Copies that the tap did not take.", s.Lost}})
		m.add("nfchain_mirror_copying_seconds_total", "Time that cores spent on copies, as told by those that were timed.", prometheus.CounterValue, chain, s.CopyingS, of)
	case "limit":
		if b := s.Buckets; b != nil {
			m.gauge("nfchain_buckets", "Flows or prefixes that a limit has buckets of.", chain, float64(b.Known), of)
			m.gauge("nfchain_buckets_limit", "Buckets that there can be at once, with those of limits beside it.", chain, float64(b.Most), of)
			m.counters("nfchain_buckets_", chain, of, []counter{{"evicted", "Buckets that made room for others, with those of limits beside it.", b.Evicted}})
		}
	case "nat":
		for reason, value := range map[string]uint64{"no connection": s.Lost, "no port": s.Full} {
			m.counters("nfchain_nat_", chain, with(of, "reason", reason), []counter{{"dropped_packets", "Packets that a nat dropped, as they were of no connection or no port was left for theirs.", value}})
		}
	}
}

// odd packets that no function got, or that were lost behind all.
func (m *stateMetrics) odd(chain string, at told.Labels, p runs.PassState) {
	m.tally("nfchain_pass", "that came to functions that are inline", chain, at, p.Came)
	m.tally("nfchain_pass_other", "of no IP, that went on untouched", chain, at, p.Other)
	m.tally("nfchain_pass_malformed", "that no router forwards, dropped before the first step", chain, at, p.Malformed)
	m.tally("nfchain_pass_unwritten", "dropped behind the last step, as there was no memory to change them in", chain, at, p.Unwritten)
}

// hops are what a forwarder counted.
func (m *stateMetrics) hops(s runs.State) {
	passes := map[string]bool{}
	for _, h := range s.Hops {
		labels := with(told.Labels{"from": h.From, "to": h.To, "direct": strconv.FormatBool(h.Direct)}, "marks", h.Marks)
		m.counters("nfchain_hop_", s.Chain, labels, []counter{
			{"packets", "Packets that a forwarder led from one node to another.", h.Packets},
			{"bytes", "Bytes of packets that a forwarder led from one node to another.", h.Bytes},
			{"ended_packets", "Packets that got no further, as the node they were for failed.", h.Ended},
			{"led_past_packets", "Packets that were led past the node while it failed, as far as they are counted.", h.LedPast},
			{"unknown_packets", "Packets that went the planned way as it was not known where they belong.", h.Unknown},
		})
		if h.Flows > 0 {
			m.gauge("nfchain_hop_flows", "Flows that are known to have come this way, so that answers go it.", s.Chain, float64(h.Flows), labels)
		}
		if h.Pass == nil || passes[h.Pass.Interface] {
			continue
		}
		for _, at := range slices.Concat(h.Pass.Beside, []string{h.Pass.Interface}) {
			passes[at] = true
		}
		m.odd(s.Chain, told.Labels{"from": metFrom(s, h), "to": h.To}, *h.Pass)
	}
}

// inline functions.
func (m *stateMetrics) inline(s runs.State) {
	for _, f := range s.Inline {
		of := told.Labels{"function": f.Name}
		for _, way := range []struct {
			direction api.Direction
			step      *runs.StepState
		}{{api.Forward, f.Forward}, {api.Reverse, f.Reverse}} {
			if way.step != nil {
				m.step(s.Chain, with(of, "direction", string(way.direction)), *way.step)
			}
		}
		m.rules(s.Chain, of, f.Rules, f.Dropped)
		if c := f.Connections; c != nil {
			m.gauge("nfchain_connections", "Connections that a function knows.", s.Chain, float64(c.Known), of)
			m.gauge("nfchain_connections_limit", "Connections that it can know at once.", s.Chain, float64(c.Most), of)
			m.counters("nfchain_connections_", s.Chain, of, []counter{{"evicted", "Connections that made room for others.", c.Evicted}})
		}
		for _, t := range f.Translations {
			labels := with(with(with(of, "service", t.Service), "to", t.To), "from", t.From)
			m.counters("nfchain_translated_", s.Chain, labels, []counter{{"connections", "Connections that were taken to an address, or given one.", t.Connections}})
		}
	}
}

// flows and where they go: over replicas, on older paths, and by a classifier's rules.
func (m *stateMetrics) flows(s runs.State) {
	for _, f := range s.Shared {
		of := told.Labels{"function": f.Function}
		for _, r := range f.Replicas {
			at := with(of, "node", r.Node)
			m.gauge("nfchain_replica_flows", "Flows that the replica has, idle ones with them.", s.Chain, float64(r.Flows), at)
			m.gauge("nfchain_replica_busy_flows", "Flows that the replica has with a packet of late.", s.Chain, float64(r.Busy), at)
		}
		m.counters("nfchain_shared_", s.Chain, of, []counter{
			{"new_flows", "Flows that became known where they are shared out over replicas.", f.New},
			{"moved_flows", "Flows that went on with another replica, as theirs had gone.", f.Moved},
			{"unkept_packets", "Packets of flows for which there was no room among those that are known.", f.Unkept},
		})
	}
	if p := s.Path; p != nil {
		m.gauge("nfchain_older_flows", "Flows that stay on a path from before the chain was changed.", s.Chain, float64(p.Older), nil)
		m.gauge("nfchain_older_kept_flows", "Flows that were found to have been there before the chain was changed, as far as they are known yet.", s.Chain, float64(p.Kept), nil)
		m.counters("nfchain_older_", s.Chain, nil, []counter{
			{"moved_flows", "Flows that went on by the newest path, as theirs was no more.", p.Moved},
			{"displaced_flows", "Flows that made room for others before they were idle.", p.Displaced},
			{"unkept_packets", "Packets of flows for which there was no room among those that stay.", p.Unkept},
		})
	}
	if b := s.Branches; b != nil {
		m.gauge("nfchain_branch_flows", "Flows that are known where ways come together.", s.Chain, float64(b.Flows), nil)
		m.counters("nfchain_branch_", s.Chain, nil, []counter{
			{"new_flows", "Flows that became known where ways come together.", b.New},
			{"moved_flows", "Flows that came another way than before.", b.Moved},
			{"unknown_packets", "Packets that went the planned way as theirs was not known.", b.Unknown},
			{"unkept_packets", "Packets of flows for which there was no room among those that are known.", b.Unkept},
		})
	}
	if s.Classifier != nil {
		m.classifier(s.Chain, *s.Classifier)
	}
}

// classifier and what it gave its paths.
func (m *stateMetrics) classifier(chain string, c runs.ClassifierState) {
	of := func(f runs.RuleFlows, labels told.Labels) {
		m.gauge("nfchain_classifier_flows", "Flows that have a path by a rule, idle ones with them.", chain, float64(f.Flows), labels)
		m.gauge("nfchain_classifier_busy_flows", "Flows that have a path by a rule, with a packet of late.", chain, float64(f.Busy), labels)
		m.tally("nfchain_classifier", "of flows that have a path by a rule, both ways", chain, labels, runs.Tally{Packets: f.Packets, Bytes: f.Bytes})
	}
	for i, r := range c.Rules {
		path := cmp.Or(strings.Join(r.Path, " "), "direct")
		if r.Drop {
			path = "drop"
		}
		of(r.RuleFlows, told.Labels{"rule": r.Rule, "place": strconv.Itoa(i + 1), "path": path})
	}
	of(c.Earlier, told.Labels{"rule": "earlier"})
	m.gauge("nfchain_classifier_flows_limit", "Flows that can be known at once.", chain, float64(c.Most), nil)
	m.counters("nfchain_classifier_", chain, nil, []counter{
		{"new_flows", "Flows that became known.", c.New},
		{"moved_flows", "Flows that went on by another path, as theirs was no more.", c.Moved},
		{"unkept_packets", "Packets of flows for which there was no room among those that are known.", c.Unkept},
		{"unknown_packets", "Packets that came out of a function by which no path of theirs goes.", c.Unknown},
	})
}

// tap of a mirror, and what lives in it.
func (m *stateMetrics) tap(chain string, t runs.TapState) {
	of := told.Labels{"tap": t.Name}
	for _, p := range t.Programs {
		at := with(with(of, "pid", strconv.Itoa(p.PID)), "command", p.Command)
		m.add("nfchain_tap_cpu_seconds_total", "Time of cores that a program in a tap took since it began.", prometheus.CounterValue, chain, p.CPUS, at)
	}
}

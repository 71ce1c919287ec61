package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// tell of the packets of our own.
func (s *sender) tell(r *Report) {
	if s.options.Send <= 0 {
		return
	}
	r.Own = &Conservation{Sent: s.sent, Received: s.received.Load(), Duplicates: s.duplicates.Load(), Refused: s.refused}
	if s.refusal != nil {
		r.Own.Error = s.refusal.Error()
	}
}

// fill puts what was seen and what was counted where it belongs.
func (r *Report) fill(v *view, s seen, before, after reading) {
	place := map[uint32]*seat{}
	for i, node := range v.nodes {
		place[node.inode] = node
		h := Hop{Name: node.Name, Kind: node.Kind, Namespace: node.Namespace, Of: node.Of, Aside: node.Aside, OneWay: node.OneWay}
		for _, device := range node.Interfaces {
			i := interfaceOf(device, before.interfaces[node.Name][device], after.interfaces[node.Name][device])
			i.vlans = node.vlans[device]
			h.Interfaces = append(h.Interfaces, i)
		}
		if s.spent != nil {
			h.SoftirqS = &s.spent[i]
		}
		h.count(before.counted[node.Name], after.counted[node.Name])
		r.Hops = append(r.Hops, h)
	}
	for i, inode := range v.tapped {
		if s.spent != nil {
			r.Taps = append(r.Taps, Tap{v.taps[inode], s.spent[len(v.nodes)+i]})
		}
	}
	r.addPoints(v, s)
	for i, node := range v.nodes {
		if r.Hops[i].hands = node.Hands; node.Hands && !node.Handed[node.Interfaces[0]] {
			r.addHanded(v, i)
		}
	}
	for i := range r.Hops {
		r.Hops[i].total()
	}
	r.addDrops(v, place, s)
	r.addFrames(place, s)
	r.conserve(s)
	r.warn(s)
}

func interfaceOf(name string, before, after counters) Interface {
	i := Interface{Name: name, kind: after.kind, In: after.in.since(before.in), Out: after.out.since(before.out), Driver: map[string]uint64{}}
	for what, n := range after.driver {
		if d := n - before.driver[what]; n > before.driver[what] {
			i.Driver[what] = d
		}
	}
	for j, q := range after.queues {
		if j < len(before.queues) && before.queues[j].Kind == q.Kind {
			q.Drops -= min(q.Drops, before.queues[j].Drops)
			q.Overlimits -= min(q.Overlimits, before.queues[j].Overlimits)
		}
		i.Queues = append(i.Queues, q)
	}
	return i
}

// count puts what the function counted between two readings with its hop. It does not
// tell whose packets those were.
func (h *Hop) count(before, after Counted) {
	h.Rules = moved(before.Rules, after.Rules)
	h.Steps = taken(before.Steps, after.Steps)
	for i, loss := range after.Losses {
		if i < len(before.Losses) && before.Losses[i].Cause == loss.Cause {
			loss.Packets -= min(loss.Packets, before.Losses[i].Packets)
		}
		if loss.Packets > 0 {
			h.Drops = append(h.Drops, Drop{Cause: loss.Cause, Others: Amount{Packets: loss.Packets}, Function: true})
		}
	}
}

// since is the difference of two readings; counters of an interface that was made
// anew begin again.
func (a Amount) since(b Amount) Amount {
	if a.Packets < b.Packets || a.Bytes < b.Bytes {
		return a
	}
	return Amount{a.Packets - b.Packets, a.Bytes - b.Bytes}
}

func (a *Amount) add(b Amount) {
	a.Packets += b.Packets
	a.Bytes += b.Bytes
}

// moved are the rules that matched between two readings.
func moved(before, after []RuleCount) (out []RuleCount) {
	for i, rule := range after {
		if i < len(before) && before[i].Rule == rule.Rule {
			rule.Packets -= min(rule.Packets, before[i].Packets)
			rule.Bytes -= min(rule.Bytes, before[i].Bytes)
		}
		if rule.Packets > 0 {
			out = append(out, rule)
		}
	}
	return out
}

// taken are the steps that packets took between two readings.
func taken(before, after []StepCount) (out []StepCount) {
	for i, step := range after {
		if i < len(before) && before[i].Function == step.Function && before[i].Direction == step.Direction && before[i].Did == step.Did && before[i].Why == step.Why && before[i].Packets <= step.Packets {
			step.Packets -= before[i].Packets
			step.Bytes -= min(step.Bytes, before[i].Bytes)
		}
		if step.Packets > 0 {
			out = append(out, step)
		}
	}
	return out
}

// addPoints tells each interface what of our packets passed it, and when.
func (r *Report) addPoints(v *view, s seen) {
	for i, p := range v.points {
		at := r.hop(p.node.Name).at(p.device)
		if p.out {
			at.OwnOut, at.TimeOut = s.passed[i], s.times[i]
		} else {
			if at.OwnIn = s.passed[i].without(s.endedBefore(p)); at.OwnIn.Packets > 0 {
				at.TimeIn = s.times[i]
			}
		}
	}
}

// addHanded tells of a hop that hands packets on what came through it for sure: what of our
// packets came to the next hop of either way of which the kernel tells.
func (r *Report) addHanded(v *view, at int) {
	h := &r.Hops[at]
	west, east := &h.Interfaces[0], &h.Interfaces[len(h.Interfaces)-1]
	next, previous := at+1, at-1
	for v.nodes[next].Hands {
		next++
	}
	for v.nodes[previous].Hands || v.nodes[previous].OneWay {
		previous--
	}
	came, back := r.Hops[next].Interfaces, r.Hops[previous].Interfaces
	west.OwnIn, east.OwnOut = came[0].OwnIn, came[0].OwnIn
	if h.OneWay {
		return
	}
	east.OwnIn, west.OwnOut = back[len(back)-1].OwnIn, back[len(back)-1].OwnIn
}

// endedBefore a node are our packets that came where the kernel tells of what comes to it, and
// ended there.
func (s seen) endedBefore(p point) (n uint64) {
	if p.inode == p.node.inode {
		return 0
	}
	for _, e := range s.drops {
		if e.own && e.inode == p.inode && e.index == p.index {
			n += e.Packets
		}
	}
	return n
}

// without so many packets, which are as long as the others.
func (a Amount) without(packets uint64) Amount {
	if packets == 0 || a.Packets == 0 {
		return a
	}
	left := a.Packets - min(packets, a.Packets)
	return Amount{left, a.Bytes / a.Packets * left}
}

func (r *Report) hop(name string) *Hop {
	for i := range r.Hops {
		if r.Hops[i].Name == name {
			return &r.Hops[i]
		}
	}
	return nil
}

func (h *Hop) at(device string) *Interface {
	for i := range h.Interfaces {
		if h.Interfaces[i].Name == device {
			return &h.Interfaces[i]
		}
	}
	return nil
}

// total sums a hop's interfaces up. Our packets come in at one and leave by another;
// the time to the hop is that of the interface that most came in at.
func (h *Hop) total() {
	var in, out uint64
	for _, i := range h.Interfaces {
		h.In.add(i.In)
		h.Out.add(i.Out)
		h.OwnIn.add(i.OwnIn)
		h.OwnOut.add(i.OwnOut)
		if i.OwnIn.Packets > in {
			in, h.TimeIn = i.OwnIn.Packets, i.TimeIn
		}
		if i.OwnOut.Packets > out {
			out, h.TimeOut = i.OwnOut.Packets, i.TimeOut
		}
	}
}

// addDrops puts the ends of packets with the hop they ended at, those of a cause at a
// place together.
func (r *Report) addDrops(v *view, place map[uint32]*seat, s seen) {
	for _, e := range s.drops {
		if v.taps[e.inode] != "" && !e.own {
			continue // copies of others end there, as they should
		}
		d := Drop{Cause: v.names.reason(e.reason), At: function(v.names.function(e.location)), Copy: v.copied(e.inode, e.reason)}
		if e.own {
			d.Own = e.Amount
		} else {
			d.Others = e.Amount
		}
		list := &r.Elsewhere
		if tap := v.taps[e.inode]; tap != "" {
			d.Interface = tap
		}
		if node, ok := place[e.inode]; ok {
			d.Interface = node.devices[e.index]
			if node.Kind == wiringKind {
				d.Of = v.ports[d.Interface]
			}
			list = &r.hop(node.Name).Drops
		}
		*list = merge(*list, d)
	}
	for i := range r.Hops {
		sortDrops(r.Hops[i].Drops)
	}
	sortDrops(r.Elsewhere)
}

// copies are reasons for which only a copy ends: a packet socket's, such as that of
// tcpdump.
var copies = map[string]bool{"PACKET_SOCK_ERROR": true}

func merge(all []Drop, d Drop) []Drop {
	for i := range all {
		if a := &all[i]; a.Cause == d.Cause && a.Function == d.Function && a.Interface == d.Interface && a.At == d.At {
			a.Own.add(d.Own)
			a.Others.add(d.Others)
			return all
		}
	}
	return append(all, d)
}

func sortDrops(all []Drop) {
	slices.SortFunc(all, func(a, b Drop) int {
		return cmp.Or(cmp.Compare(b.Own.Packets, a.Own.Packets), cmp.Compare(b.Others.Packets, a.Others.Packets), strings.Compare(a.Cause, b.Cause), strings.Compare(a.At, b.At))
	})
}

// addFrames puts what XDP lost with the hop. No packet tells whose it was.
func (r *Report) addFrames(place map[uint32]*seat, s seen) {
	for _, f := range s.frames {
		if node, ok := place[f.inode]; ok {
			h := r.hop(node.Name)
			h.Drops = append(h.Drops, Drop{Cause: f.cause, Interface: node.devices[f.index], Others: Amount{Packets: f.packets}})
		}
	}
}

// conserve sets what was sent against what became of it.
func (r *Report) conserve(s seen) {
	if r.Own == nil {
		return
	}
	for _, d := range r.allDrops() {
		if !d.Copy {
			r.Own.Dropped += d.Own.Packets
		}
	}
	rest := int64(r.Own.Sent) - int64(r.Own.Received) - int64(r.Own.Dropped)
	r.Own.Functions = uint64(min(max(rest, 0), int64(r.lostByFunctions())))
	rest -= int64(r.Own.Functions)
	r.Own.XDP = uint64(min(max(rest, 0), int64(r.lostByXDP(s))))
	r.Own.Unexplained = rest - int64(r.Own.XDP)
}

// lostByFunctions counts what functions' programs dropped, as they say themselves.
func (r *Report) lostByFunctions() (n uint64) {
	for _, d := range r.allDrops() {
		if d.Function {
			n += d.Others.Packets
		}
	}
	return n
}

// lostByXDP counts what programs dropped on purpose, by the drivers, and what got lost
// on the way between interfaces, by the tracepoints.
func (r *Report) lostByXDP(s seen) (n uint64) {
	for _, h := range r.Hops {
		for _, i := range h.Interfaces {
			for name, drops := range i.Driver {
				if strings.HasSuffix(name, "xdp_drops") {
					n += drops
				}
			}
		}
	}
	for _, f := range s.frames {
		if !f.counted {
			n += f.packets
		}
	}
	return n
}

func (r *Report) allDrops() (all []Drop) {
	for _, h := range r.Hops {
		all = append(all, h.Drops...)
	}
	return append(all, r.Elsewhere...)
}

// warn says what a reader must know of what is not there.
func (r *Report) warn(s seen) {
	if s.uncounted > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d drops are not counted: they had more causes and places than there is room for", s.uncounted))
	}
	if s.missed > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d events were missed: they came while the same core was at another", s.missed))
	}
	if r.Own == nil {
		return
	}
	if r.unseenIn() {
		r.Warnings = append(r.Warnings, "what comes in at macvlan and ipvlan devices the kernel tells of at their parent alone: IN is not known, but ALL IN is, and TIME TO IT is until the hop sends on")
	}
	if r.Own.Unexplained <= 0 {
		return
	}
	for _, h := range r.Hops {
		for _, i := range h.Interfaces {
			r.Warnings = append(r.Warnings, suspects(h, i)...)
		}
	}
}

// unseenIn tells whether there are interfaces that take packets in unseen.
func (r *Report) unseenIn() bool {
	return slices.ContainsFunc(r.Hops, func(h Hop) bool {
		return slices.ContainsFunc(h.Interfaces, Interface.blind)
	})
}

// blind tells whether the kernel does not tell of what comes in at an interface.
func (i Interface) blind() bool { return i.kind == "macvlan" || i.kind == "ipvlan" }

// suspects are counters in which packets may be that nothing explains.
func suspects(h Hop, i Interface) (out []string) {
	at := h.Name + ":" + i.Name
	for _, q := range i.Queues {
		if q.Backlog > 0 {
			out = append(out, fmt.Sprintf("%d packets are still in the queue %s of %s, ours may be among them", q.Backlog, q.Kind, at))
		}
	}
	names := []string{}
	for name := range i.Driver {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(out, fmt.Sprintf("the driver of %s counted %s %d, ours may be among them", at, name, i.Driver[name]))
	}
	return out
}

package trace

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/trial"
)

// Explanation is how far packets of a flow came along a chain, and why no farther.
type Explanation struct {
	SchemaVersion int    `json:"schema_version"`
	Chain         string `json:"chain"`
	Wiring        string `json:"wiring"`
	Flow          string `json:"flow"`
	// Path says which of several paths the flow takes, and why; the hops are those of it.
	Path string `json:"path,omitempty"`
	// Unmet says, where no rule gave it its path, of each what it asks for that the flow is not.
	Unmet []string `json:"unmet,omitempty"`
	Sent  uint64   `json:"sent_packets"`
	// Arrived came in at the last hop, and are not among those that ended there.
	Arrived uint64 `json:"arrived_packets"`
	// Hops in the order in which the flow passes them, and (wiring), where packets only end.
	Hops trial.List[Step] `json:"hops"`
	// Aside are functions on other ways, to which no packet of the flow came.
	Aside []string `json:"aside,omitempty"`
	// Past are functions that packets of this direction go past, as the chain is one-way there.
	Past []string `json:"past,omitempty"`
	// Elsewhere are ends outside the chain's namespaces.
	Elsewhere trial.List[Drop] `json:"elsewhere"`
	// Verdict says in words what became of the packets.
	Verdict string `json:"verdict"`
	// Reasons say why, as far as that is known, the likeliest first.
	Reasons  trial.List[string] `json:"reasons"`
	Warnings trial.List[string] `json:"warnings"`
	// flow that it is of, whether it ends at a function, and whether it goes past the one that it is for.
	flow       Flow
	toFunction bool
	missed     bool
	// failing functions.
	failing []Failing
}

// Step is one hop of the flow's way.
type Step struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Of is the function that it is the replica of which has the flow, and Replicas is how many that
	// has; "" for all others. Where no packet came to any, there is the function in their place.
	Of       string `json:"of,omitempty"`
	Replicas int    `json:"replicas,omitempty"`
	// In and Out are packets of the flow, at the interfaces where its way leads.
	In  uint64 `json:"in_packets"`
	Out uint64 `json:"out_packets"`
	// Drops are where those of the flow ended, and what ended of others meanwhile.
	Drops trial.List[Drop]      `json:"drops"`
	Rules trial.List[RuleCount] `json:"rules"`
	// Steps are what functions without a namespace did meanwhile to packets of all.
	Steps trial.List[StepCount] `json:"steps"`
	// blind tells that of what comes in nothing is seen.
	blind bool
	// untaken are interfaces at which there is none of the flow's VLAN.
	untaken []string
	// aside tells that no packet came there, and that there are ways past it.
	aside bool
}

// Explain sends a few packets of a flow from the end where it begins, and tells what became
// of them. Of Options, Send and Patience count.
func Explain(ctx context.Context, c Chain, f Flow, o Options) (Explanation, error) {
	var s *injector
	r, err := watch(ctx, c, o, func() (load, error) {
		var err error
		s, err = newInjector(c, f, o)
		return s, err
	})
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{SchemaVersion: trial.SchemaVersion, Chain: r.Chain, Wiring: r.Wiring, Flow: f.String(), Path: r.Path, Unmet: c.Unmet, Sent: s.sent, Elsewhere: ownOf(r.Elsewhere), Warnings: r.Warnings}
	e.failing = c.Failing
	e.follow(r.Hops, f, c.ByTime)
	e.judge(s.refusal)
	return e, nil
}

// follow the flow through the hops.
func (e *Explanation) follow(hops []Hop, f Flow, byTime bool) {
	var between []Hop
	if n := len(hops) - 1; hops[n].Kind == wiringKind {
		hops, between = hops[:n], hops[n:]
	}
	hops = slices.Clone(hops)
	if f.Reverse {
		slices.Reverse(hops)
	}
	if byTime {
		inOrder(hops)
	}
	handOn(hops, f)
	e.flow = f
	hops, e.toFunction = until(hops, f)
	for i, h := range hops {
		step := Step{Name: h.Name, Kind: h.Kind, Of: h.Of, Drops: h.Drops, Rules: h.Rules, Steps: h.Steps}
		first, last := h.entry(f.Reverse), h.entry(!f.Reverse)
		step.blind, step.untaken = first.blind(), h.without(f)
		if i > 0 {
			step.In = first.OwnIn.Packets
		} else {
			step.Drops = slices.DeleteFunc(slices.Clone(h.Drops), isAnswer)
		}
		if i < len(hops)-1 {
			step.Out = last.OwnOut.Packets
		}
		switch unseen := step.In+step.Out+own(step.Drops) == 0; {
		case unseen && (h.Aside || byTime && reached(hops[i+1:], f)):
			step.aside = true
		case unseen && h.OneWay && f.Reverse:
			e.Past = append(e.Past, h.Name)
			e.missed = e.missed || h.means(f.Goal)
			continue
		}
		e.Hops = append(e.Hops, step)
	}
	e.take(e.Hops)
	if n := len(e.Hops) - 1; n > 0 {
		e.Arrived = e.Hops[n].In - min(e.Hops[n].In, own(e.Hops[n].Drops))
	}
	for _, h := range between {
		e.Hops = append(e.Hops, Step{Name: h.Name, Kind: h.Kind, Drops: h.Drops, Rules: h.Rules, Steps: h.Steps})
	}
}

// reached tells whether packets of the flow came to any of the hops.
func reached(hops []Hop, f Flow) bool {
	return slices.ContainsFunc(hops, func(h Hop) bool { return h.entry(f.Reverse).OwnIn.Packets > 0 })
}

// inOrder of when packets came to functions, or to one of their replicas, are the hops then, and the ends where they were. Those to which none
// came follow whom they followed.
func inOrder(hops []Hop) {
	came, last := map[string]uint64{}, uint64(0)
	between := hops[1 : len(hops)-1]
	for _, h := range between {
		if h.TimeIn != nil {
			came[h.function()] = h.TimeIn.MedianNS
		}
	}
	for _, h := range between {
		if _, seen := came[h.function()]; !seen {
			came[h.function()] = last
		}
		last = came[h.function()]
	}
	slices.SortStableFunc(between, func(a, b Hop) int { return cmp.Compare(came[a.function()], came[b.function()]) })
}

// handOn tells of hops where programs hand packets on, of which the kernel does not tell what left, that it is what came to the next.
func handOn(hops []Hop, f Flow) {
	for i, h := range hops[:len(hops)-1] {
		if !h.hands || h.entry(f.Reverse).OwnIn.Packets == 0 {
			continue
		}
		next := slices.IndexFunc(hops[i+1:], func(h Hop) bool { return h.entry(f.Reverse).OwnIn.Packets > 0 })
		if next >= 0 {
			h.at(h.entry(!f.Reverse).Name).OwnOut = hops[i+1+next].entry(f.Reverse).OwnIn
		}
	}
}

// take of the replicas of a function those that packets of the flow came to, and where there
// are none the function alone, or that it is on another way.
func (e *Explanation) take(all []Step) {
	var taken []Step
	for i := 0; i < len(all); {
		end := i + 1
		for all[i].Of != "" && end < len(all) && all[end].Of == all[i].Of {
			end++
		}
		if !slices.ContainsFunc(all[i:end], func(s Step) bool { return !s.aside }) {
			e.Aside = append(e.Aside, cmp.Or(all[i].Of, all[i].Name))
			i = end
			continue
		}
		took := taken
		replicas := 0
		for _, s := range all[i:end] {
			if s.Of != "" && s.Kind != LeavingKind {
				replicas++
			}
		}
		for _, s := range all[i:end] {
			s.Replicas = replicas
			if s.Of == "" || s.In+s.Out+own(s.Drops) > 0 {
				took = append(took, s)
			}
		}
		if len(took) == len(taken) {
			s := all[i]
			s.Name, s.Replicas, s.Drops, s.Rules, s.Steps = s.Of, replicas, nil, nil, nil
			took = append(took, s)
		}
		taken, i = took, end
	}
	e.Hops = taken
}

// isAnswer tells whether what ended at the hop where the flow begins is the answer to it: only
// what comes in looks for a socket.
func isAnswer(d Drop) bool { return d.Cause == noSocket && d.Own.Packets > 0 }

// own packets among those that ended, copies not counted.
func own(drops []Drop) (n uint64) {
	for _, d := range ownOf(drops) {
		n += d.Own.Packets
	}
	return n
}

// ownOf are the drops of packets of the flow, copies left out.
func ownOf(drops []Drop) (all []Drop) {
	for _, d := range drops {
		if d.Own.Packets > 0 && !d.Copy {
			all = append(all, d)
		}
	}
	return all
}

// judge says what became of the packets, and why.
func (e *Explanation) judge(refusal error) {
	first, last := e.Hops[0], e.end()
	switch at := e.lastSeen(); {
	case e.Sent == 0:
		e.Verdict = fmt.Sprintf("%s cannot send it: %v", first.Name, refusal)
		e.Reasons = append(e.Reasons, refused(refusal))
	case last.blind && own(last.Drops) == 0 && e.beforeEnd().Out == e.Sent:
		e.Verdict = fmt.Sprintf("%s as far as can be seen: %s gave it to %s, whose interface does not tell what comes in", e.arrives(), e.beforeEnd().Name, last.Name)
		return
	case e.missed:
		e.Verdict = fmt.Sprintf("it does not arrive: packets of this direction go past %s", e.flow.Goal)
		return // who got them instead may well say that they are not for it
	case e.Arrived == e.Sent:
		e.Verdict = e.arrives() + e.got(last)
		return
	case e.Arrived > 0 && e.toFunction:
		e.Verdict = fmt.Sprintf("of %d packets %d arrived at %s", e.Sent, e.Arrived, last.Name)
	case e.Arrived > 0:
		e.Verdict = fmt.Sprintf("of %d packets %d went through the chain", e.Sent, e.Arrived)
	case at.Name == last.Name:
		e.Verdict = fmt.Sprintf("%s, and %s", e.arrives(), e.refuses(last))
	default:
		e.Verdict = fmt.Sprintf("it does not arrive: %s is where it was seen last", at.Name)
	}
	e.explain()
}

// end is the hop that the flow is for, and beforeEnd the one before it.
func (e *Explanation) end() Step       { return e.nodes()[len(e.nodes())-1] }
func (e *Explanation) beforeEnd() Step { return e.nodes()[len(e.nodes())-2] }

// nodes are the hops without what is between them.
func (e *Explanation) nodes() []Step {
	if n := len(e.Hops) - 1; e.Hops[n].Kind == wiringKind {
		return e.Hops[:n]
	}
	return e.Hops
}

// lastSeen is the hop to which any packet came, or where one began.
func (e *Explanation) lastSeen() Step {
	for _, s := range slices.Backward(e.Hops) {
		if s.In+s.Out+own(s.Drops) > 0 && s.Kind != wiringKind {
			return s
		}
	}
	return e.Hops[0]
}

// explain by what ended, by the rules that dropped, and by what others met where it was
// seen last.
func (e *Explanation) explain() {
	for _, s := range e.Hops {
		drops := ownOf(s.Drops)
		if s.Kind == wiringKind && len(drops) > 0 {
			e.between(s) // which function it was says more than what the kernel calls it
		}
		slices.SortStableFunc(drops, func(a, b Drop) int { return cmp.Compare(b.Own.Packets, a.Own.Packets) })
		for _, d := range drops {
			e.ended(s, d)
		}
		for _, rule := range s.Rules {
			if s.Kind != wiringKind && len(drops) > 0 && rule.dropped() {
				e.Reasons = append(e.Reasons, s.Name+": "+rule.text())
			}
		}
		if s.Kind != wiringKind && len(drops) > 0 {
			e.dropped(s.Steps, s.Name+": ")
		}
	}
	for _, d := range e.Elsewhere {
		e.because("outside the chain", d, d.Own.Packets)
	}
	if len(e.Reasons) > 0 {
		return
	}
	at := e.lastSeen()
	for _, d := range at.Drops {
		if d.Own.Packets == 0 && d.Others.Packets > 0 && !d.Copy {
			e.because(at.Name+" (not known to be of this flow)", d, d.Others.Packets)
		}
	}
	if len(e.Reasons) == 0 {
		e.Reasons = append(e.Reasons, fmt.Sprintf("nothing tells why: %s gave it to nobody who was seen, and the kernel says of no end; a program or a queue of %s may hold it", at.Name, at.Name))
	}
}

// dropped are the reasons of functions that say of themselves that they dropped packets.
func (e *Explanation) dropped(steps []StepCount, place string) {
	for _, step := range steps {
		if step.dropped() {
			e.Reasons = append(e.Reasons, place+step.text())
		}
	}
}

// ended are packets of the flow at a hop.
func (e *Explanation) ended(s Step, d Drop) {
	if d.Cause == otherHost && slices.Contains(s.untaken, d.Interface) {
		e.Reasons = append(e.Reasons, fmt.Sprintf("%s: %d dropped at %s: it is of VLAN %d, of which there is no interface there (%s)", s.Name, d.Own.Packets, d.Interface, e.flow.VLAN, d.Cause))
		return
	}
	e.because(s.Name, d, d.Own.Packets)
}

// because of a drop at a place.
func (e *Explanation) because(place string, d Drop, packets uint64) {
	text := fmt.Sprintf("%s: %d dropped", place, packets)
	if d.Interface != "" {
		text += " at " + d.Interface
	}
	if d.Of != "" {
		text += ", the port of " + d.Of
	}
	var kernel []string
	if !d.Function {
		kernel = append(kernel, d.Cause)
	}
	if d.At != "" {
		kernel = append(kernel, "in "+d.At)
	}
	text += ": " + inWords(d)
	if len(kernel) > 0 {
		text += " (" + strings.Join(kernel, " ") + ")"
	}
	e.Reasons = append(e.Reasons, text)
}

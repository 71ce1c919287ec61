package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/wiring"
)

// Classifier is the paths of a chain that has several, and how flows get theirs.
type Classifier struct {
	// Paths by which packets go: first those of rules in their order, then that of flows that no rule
	// matches.
	Paths []Path `json:"paths"`
	// Choice by the first packet of a flow. Rules that lead to a function's own addresses come first.
	Choice steer.Choice `json:"choice"`
	// Own is how many such rules there are.
	Own int `json:"own"`
}

// Path is one of several through a chain.
type Path struct {
	// Name is the functions' names, "" that of the direct path.
	Name string `json:"name"`
	// Number by which ports know it.
	Number    int      `json:"number"`
	Functions []string `json:"functions"`
	// Nodes that packets are in, both ends included.
	Nodes []string `json:"nodes"`
	// OneWay tells that packets go straight back, whatever the functions say.
	OneWay bool `json:"one_way,omitempty"`
	// Back are the nodes that packets are in on their way back, in the same order; absent where that are all.
	Back []string `json:"back,omitempty"`
	// Branched tells that packets go on from each of the functions, which are all of the chain's, as its branches lead.
	Branched bool `json:"branched,omitempty"`
	// ServicePath is what headers call it on the way there, and with [nsh.Back] back; 0 where none of its functions gets any.
	ServicePath uint32 `json:"service_path,omitempty"`

	// Visited are the functions that packets come by on their way back, in the same order, for a person.
	Visited []string `json:"-"`

	at, back []int // places of the nodes
}

// pathName of functions.
func pathName(functions []string) string { return strings.Join(functions, " ") }

// Path of a name; nil where there is none.
func (c *Classifier) Path(name string) *Path {
	for i := range c.Paths {
		if c.Paths[i].Name == name {
			return &c.Paths[i]
		}
	}
	return nil
}

// NameOr is the path's name, or another where there is no path.
func (p *Path) NameOr(other string) string {
	if p == nil {
		return other
	}
	return p.Name
}

// Has tells whether a path goes by a node.
func (p Path) Has(node string) bool { return slices.Contains(p.Nodes, node) }

// by tells whether a path goes by the node of a place.
func (p Path) by(node int) bool { return slices.Contains(p.at, node) }

// beside is the place of the node behind one on a path, or before it.
func (p Path) beside(node int, east bool) int {
	at := slices.Index(p.at, node)
	if east {
		return p.at[at+1]
	}
	for at--; !slices.Contains(p.back, p.at[at]); at-- { // what begins at the first end goes back there
	}
	return p.at[at]
}

// classify has ports send packets on by several paths, if the chain has them.
func (b *builder) classify() error {
	spec := b.chain.Spec.Classifier
	if spec == nil {
		return nil
	}
	c := &Classifier{Choice: steer.Choice{Drop: spec.Rest() == api.OtherwiseDrop}}
	b.classifier = c
	for _, r := range spec.Ordered() {
		p := b.path(r.Functions, r.OneWay())
		c.add(p)
		rule, err := b.rule(r, p.Name)
		if err != nil {
			return fmt.Errorf("classifier: rule %s: %w", r.Name, err)
		}
		c.Choice.Rules = append(c.Choice.Rules, rule)
	}
	if rest := b.rest(spec); rest != nil {
		c.Choice.Otherwise = rest.Name
		c.add(*rest)
	}
	c.number()
	if err := errors.Join(b.oneWay(c), b.inlineOn(c), b.orderOn(c), b.onlyOn(c)); err != nil {
		return about(err, "classifier")
	}
	if err := b.headPaths(c); err != nil {
		return err
	}
	b.headersOn()
	own := b.toFunctions(c)
	c.Own, c.Choice.Rules = len(own), append(own, c.Choice.Rules...)
	lead := b.leadOn
	if b.chain.Spec.Parts() {
		lead = b.leadAhead
	}
	for i := range b.nodes {
		lead(c, i, true)
		lead(c, i, false)
	}
	b.nameWays(c)
	b.steerLast()
	return nil
}

// oneWayName ends the name of a path that packets go straight back on, though not all of its functions say so: it
// is another one than that of the same functions, and no function is called so.
const oneWayName = ", one way"

// branchedName is that of the path on which packets go as branches lead, whichever functions there are: flows that are known to be on it are
// that when some come and go. No function is called so.
const branchedName = "all, as branches lead"

// path by some functions of the chain, or straight back past them.
func (b *builder) path(functions []string, oneWay bool) Path {
	p := Path{Name: pathName(functions), Functions: append([]string{}, functions...)}
	if p.Branched = b.chain.Spec.Parts() && b.chain.Spec.Whole(functions); p.Branched {
		p.Name = branchedName
	}
	both := func(f api.Function) bool { return slices.Contains(functions, f.Name) && !b.chain.Spec.OneWay(f) }
	if p.OneWay = oneWay && slices.ContainsFunc(b.chain.Spec.Functions, both); p.OneWay {
		p.Name += oneWayName
	}
	p.at = []int{0}
	for _, name := range functions {
		place := slices.IndexFunc(b.nodes, func(n Node) bool { return n.Has(name) || n.Function() == name })
		if at := slices.IndexFunc(b.inline, func(f Inline) bool { return f.Stop && f.Name == name }); at >= 0 {
			place = b.inline[at].hop
		}
		if place > 0 && !slices.Contains(p.at, place) { // one that is inline between others is no node
			p.at = append(p.at, place)
		}
	}
	p.at = append(p.at, len(b.nodes)-1)
	var back []string
	for _, place := range p.at {
		n := b.nodes[place]
		p.Nodes = append(p.Nodes, n.Name)
		if n.Kind == "endpoint" || !oneWay && !n.OneWay {
			back, p.back = append(back, n.Name), append(p.back, place)
		}
	}
	if len(back) < len(p.Nodes) {
		p.Back = back
	}
	for _, name := range functions {
		if !oneWay && slices.ContainsFunc(b.chain.Spec.Functions, func(f api.Function) bool { return f.Name == name && both(f) }) {
			p.Visited = append(p.Visited, name)
		}
	}
	return p
}

// rest is the path of flows that no rule matches; nil where they end.
func (b *builder) rest(spec *api.Classifier) *Path {
	var all []string
	switch spec.Rest() {
	case api.OtherwiseDrop:
		return nil
	case api.OtherwiseChain:
		for _, f := range b.chain.Spec.Functions {
			all = append(all, f.Name)
		}
	}
	p := b.path(all, false)
	return &p
}

// add a path, unless it is there.
func (c *Classifier) add(p Path) {
	if c.Path(p.Name) == nil {
		c.Paths = append(c.Paths, p)
	}
}

// number paths. Numbers follow from their names, so that paths keep theirs while others come and go, as
// far as can be, and that of branches always does.
func (c *Classifier) number() {
	inOrder := make([]*Path, len(c.Paths))
	for i := range c.Paths {
		inOrder[i] = &c.Paths[i]
	}
	slices.SortFunc(inOrder, func(a, b *Path) int {
		if a.Branched != b.Branched {
			return map[bool]int{true: -1, false: 1}[a.Branched]
		}
		return cmp.Compare(a.Name, b.Name)
	})
	taken := map[int]bool{}
	for _, p := range inOrder {
		n := int(hash("path", p.Name) % steer.MostPaths)
		for taken[n] {
			n = (n + 1) % steer.MostPaths
		}
		taken[n], p.Number = true, n+1
	}
}

// rule of a file that leads by a path, as ports have it.
func (b *builder) rule(r api.PathRule, path string) (rule steer.Rule, err error) {
	rule = steer.Rule{Name: r.Name, Path: path}
	var wrong [7]error
	rule.Sources, wrong[0] = r.Match.Source.Parse()
	rule.Destinations, wrong[1] = r.Match.Destination.Parse()
	rule.SourcePorts, wrong[2] = r.Match.SourcePort.Parse()
	rule.DestinationPorts, wrong[3] = r.Match.DestinationPort.Parse()
	rule.CodePoints, wrong[4] = r.Match.DSCP.Parse()
	rule.VLANs, wrong[5] = r.Match.VLAN.Parse()
	if r.Match.Protocol != "" {
		var number uint8
		number, wrong[6] = r.Match.Protocol.Number()
		rule.Protocol = api.ProtocolOf(number) // the same, however it is written
	}
	switch r.Match.Ingress {
	case b.nodes[0].Name:
		rule.From = steer.FirstEnd
	case b.nodes[len(b.nodes)-1].Name:
		rule.From = steer.SecondEnd
	}
	return rule, errors.Join(wrong[:]...)
}

// first path that goes by the node of a place, that of branches before others; nil where none does.
func (c *Classifier) first(node int) (first *Path) {
	for i := range c.Paths {
		if c.Paths[i].by(node) && (first == nil || c.Paths[i].Branched) {
			first = &c.Paths[i]
		}
	}
	return first
}

// translator is what gives connections other addresses at a node; nil where nothing does.
func (b *builder) translator(n Node) *Member {
	for _, f := range b.translators() {
		if f.Stop && b.nodes[f.hop].Name == n.Name {
			return &Member{Name: f.Name, Kind: f.Kind, body: f.body}
		}
	}
	for _, m := range n.members() {
		if _, translates := b.catalogue.Functions[m.Kind].(function.Translator); translates {
			return &m
		}
	}
	return nil
}

// oneWay refuses a function that translates addresses where paths part behind it: what comes out of it does not
// tell which path it is of.
func (b *builder) oneWay(c *Classifier) error {
	var refused []error
	for i, n := range b.nodes {
		m := b.translator(n)
		if m == nil {
			continue
		}
		behind := func(p Path) []int { return p.at[slices.Index(p.at, i)+1:] }
		if m.body.Direction == api.Reverse {
			behind = func(p Path) []int { return p.back[:slices.Index(p.back, i)] }
		}
		first := c.first(i)
		for _, p := range c.Paths {
			if p.by(i) && !slices.Equal(behind(p), behind(*first)) {
				refused = append(refused, fmt.Errorf("%s translates addresses, so that it is not known behind it which of the paths %q and %q a packet is of; have them go by the same functions from there on", m.Name, first.Text(), p.Text()))
				break
			}
		}
	}
	return errors.Join(refused...)
}

// inlineOn refuses a function without a namespace that packets of a path would miss, or meet unasked: it is
// met by whatever leaves the nodes around it. Behind one that translates addresses nothing would tell paths apart.
func (b *builder) inlineOn(c *Classifier) error {
	return b.astray(b.onHops(func(f *Inline) bool {
		return f.steps.NAT != nil || slices.ContainsFunc(c.Paths, func(p Path) bool { return b.misses(p, f) })
	})...)
}

// misses tells whether packets of a path would miss a function without a namespace, or meet it unasked.
func (b *builder) misses(p Path, f *Inline) bool {
	if on := slices.Contains(p.Functions, f.Name); p.by(f.hop) != on || p.by(f.hop+1) != on {
		return true
	}
	if f.Reverse == nil {
		return false
	}
	at := f.hop + 1 // where they meet it on their way back
	for b.nodes[at].OneWay {
		at++
	}
	meets := slices.Contains(p.back, at)
	return meets != p.ReturnsBy(*f) || meets && p.beside(at, false) != b.back(at)
}

// leadOn has the port where packets of a node come in, on their way east or west, send them on by their
// path: plainly, where all paths lead to the same node.
func (b *builder) leadOn(c *Classifier, node int, east bool) {
	if last := len(b.nodes) - 1; east && node == last || !east && node == 0 {
		return
	}
	n := b.nodes[node]
	end := n.Kind == "endpoint"
	at, pair := b.portAt(node, east)
	ports, pairs := map[string]bool{}, []string{pair}
	spec := &steer.Paths{}
	for _, p := range c.Paths {
		if !p.by(node) {
			continue
		}
		to, pair := b.portAt(p.beside(node, east), !east)
		if !ports[to] {
			ports[to], pairs = true, append(pairs, pair)
		}
		spec.Ways = append(spec.Ways, steer.Way{Path: p.Name, Number: p.Number, Port: to})
	}
	if len(spec.Ways) == 0 && !end {
		return
	}
	r := b.steers(at)
	s := r.Spec.(steer.Spec)
	r.Needs = pairs
	learns, headed, opens := b.translator(n) != nil, n.NSH != nil, slices.ContainsFunc(n.members(), b.runs) // what a program of its own sends is nobody's answer
	if !end && len(ports) == 1 && !learns && !opens && !headed && !b.headsBeyond(c, node, east) && b.sameBeyond(c, node, east) && len(b.sharedBeyond(c, node, east)) == 0 {
		s.To = spec.Ways[0].Port
		r.Spec = s
		return
	} else if !end {
		spec.Usual, spec.Learns, spec.Opens, spec.Headed = c.first(node).Name, learns, opens, headed
		if !c.Choice.Drop {
			spec.Other = &c.Choice.Otherwise
		}
	}
	if end {
		spec.Choice, spec.End = &c.Choice, steer.FirstEnd
		if !east {
			spec.End = steer.SecondEnd
		}
	}
	spec.Flows, spec.Idle = b.wiring.(wiring.Sharing).Flows(b.wiringOptions())
	s.To, s.Paths = "", spec
	r.Spec = s
}

// beyond a node on a path: those that packets may go to from there, whichever fail.
func (b *builder) beyond(p Path, node int, east bool) (goals []int) {
	for next := p.beside(node, east); ; next = p.beside(next, east) {
		goals = append(goals, next)
		if b.nodes[next].onFailure != process.Bypass {
			return goals
		}
	}
}

// sharedBeyond a node are the functions with replicas among them, on all paths.
func (b *builder) sharedBeyond(c *Classifier, node int, east bool) (places []int) {
	for _, p := range c.Paths {
		if !p.by(node) {
			continue
		}
		for _, place := range b.beyond(p, node, east) {
			if b.nodes[place].Replica != nil && !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	slices.Sort(places)
	return places
}

// sameBeyond tells whether what leaves a node goes to the same one on all paths, whichever functions fail.
func (b *builder) sameBeyond(c *Classifier, node int, east bool) bool {
	var same []int
	for _, p := range c.Paths {
		if !p.by(node) {
			continue
		}
		goals := b.beyond(p, node, east)
		if same != nil && !slices.Equal(same, goals) {
			return false
		}
		same = goals
	}
	return true
}

// portAt is the port behind a node's side, and the pair that leads there.
func (b *builder) portAt(node int, east bool) (port, pair string) {
	if east {
		return b.ports[node].A.Device, b.ends[node].A
	}
	return b.ports[node-1].B.Device, b.ends[node-1].B
}

// steerLast has resources that steer come last, and of these the ones where flows begin: who makes one after the
// other has all ports then, and all know a path before a flow is on it.
func (b *builder) steerLast() {
	when := func(r resource.Resource) int {
		s, is := r.Spec.(steer.Spec)
		switch {
		case !is:
			return 0
		case s.Paths == nil || s.Paths.Choice == nil:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(b.resources, func(x, y resource.Resource) int { return when(x) - when(y) })
}

// unvisited warns of functions that no path goes by.
func (b *builder) unvisited() (warnings []string) {
	if b.classifier == nil {
		return nil
	}
	for i, n := range b.nodes {
		if b.classifier.first(i) != nil || n.Kind == "endpoint" {
			continue
		}
		warn := func(name string) {
			warnings = append(warnings, fmt.Sprintf("no path goes by %s: no rule of the classifier names it", name))
		}
		for _, f := range b.at(i) {
			warn(f.Name)
		}
		if n.Kind != StopKind {
			warn(n.Function())
		}
	}
	return warnings
}

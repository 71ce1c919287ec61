package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource/ovs"
	"nfchain.dev/nfchain/internal/words"
)

// Placement is which CPUs do a chain's work: lists such as 0,2-3, absent where that is
// left to the kernel.
type Placement struct {
	// Functions are those of functions' programs, by function.
	Functions map[string]string `json:"functions,omitempty"`
	// Softirqs are those that handle what a node's interfaces receive, by node.
	Softirqs map[string]string `json:"softirqs,omitempty"`
	// Client and Server are those of the load at the chain's ends.
	Client string `json:"client,omitempty"`
	Server string `json:"server,omitempty"`
	// Wiring are those of what a wiring runs between the nodes, such as a switch's daemons.
	Wiring string `json:"wiring,omitempty"`
	// Memory has the memory nodes of what a node's programs, or the load at an end, use.
	Memory map[string][]int `json:"memory,omitempty"`
	// Own are the CPUs that one node has to itself.
	Own string `json:"own,omitempty"`

	own, chosenOf []int
	// threads do the work of softirqs.
	threads bool
}

// placing is a choice of CPUs on its way.
type placing struct {
	asked api.Placement
	// allowed are the CPUs there are, in ascending order.
	allowed []int
	// named are those that a file names for something.
	named map[int]bool
	own   map[string]int
	// owner of the chain, and what owners have been given: it keeps its own, and has none that is another's.
	owner  string
	claims Claims
	// near is the memory node of each, where one is asked for, and memory the CPUs of all.
	near   map[string]int
	memory map[int][]int
}

// place chooses the CPUs of the chain's work.
func (b *builder) place() error {
	if err := b.claimNamed(); err != nil {
		return err
	}
	asked := b.chain.Spec.Placement
	if asked == (api.Placement{}) {
		return nil
	}
	allowed := b.facts.CPUs
	if len(b.options.CPUs) > 0 {
		allowed = b.options.CPUs
	}
	p := &placing{asked: asked, allowed: allowed, named: map[int]bool{}, own: map[string]int{}, memory: b.facts.MemoryNodes,
		owner: b.chain.Metadata.Name, claims: b.facts.Claims}
	if err := p.chooseMemory(b.nodes); err != nil {
		return feature.Lacking(fmt.Errorf("placement.numa: %w", err))
	}
	programs, err := b.programs()
	if err != nil {
		return fmt.Errorf("placement.%w", err)
	}
	for _, list := range []string{asked.Functions.Shared, asked.Load.Shared, asked.Softirqs.Shared} {
		p.note(list)
	}
	for _, n := range b.nodes {
		for _, m := range n.members() {
			if m.body.Resources != nil {
				p.note(m.body.Resources.CPUs)
			}
		}
	}
	if err := p.choose(b.alone(programs)); err != nil {
		return feature.Lacking(fmt.Errorf("placement: %w", err))
	}
	b.placement, err = p.result(b.nodes, programs)
	if err != nil {
		return fmt.Errorf("placement.%w", err)
	}
	b.claim = b.claim.With(Claim{Own: p.own})
	b.placing, b.placement.threads = p, inThreads(b.chain.Spec.Tuning)
	return nil
}

// ChosenOf are the CPUs of which those of the chain's work were chosen; none where nothing was.
func (p *Plan) ChosenOf() []int {
	if p.Placement == nil {
		return nil
	}
	return p.Placement.chosenOf
}

// programs are the functions whose programs a placement is for.
func (b *builder) programs() (map[string]bool, error) {
	asked, all, any := b.chain.Spec.Placement.Functions, map[string]bool{}, false
	for _, n := range b.nodes {
		for _, m := range n.members() {
			if !b.runs(m) {
				continue
			}
			bound := m.body.Resources != nil && m.body.Resources.CPUs != ""
			switch {
			case n.shared && !asked.Any():
				return nil, fmt.Errorf("functions: the program of %s is a standalone function's, which may serve other chains; give that resources: {cpus: ...} and leave this out", m.Name)
			case bound && !asked.Any():
				return nil, fmt.Errorf("functions: resources.cpus of %s says the same; leave one of them out", m.Name)
			}
			any = true
			all[m.Name] = !n.shared && !bound
		}
	}
	if !any && !asked.Any() {
		return nil, errors.New("functions: no function of the chain has a program; what the kernel does for them is placed by softirqs")
	}
	return all, nil
}

func (b *builder) runs(m Member) bool {
	kind, may := b.catalogue.Functions[m.body.Kind].(function.Runner)
	return may && kind.Runs(settled(kind, m.body.Options, b.facts.Has))
}

// alone are the nodes, and functions that share one, that need a CPU of their own, in path order.
func (b *builder) alone(programs map[string]bool) (names []string) {
	asked := b.chain.Spec.Placement
	for i, n := range b.nodes {
		end := i == 0 || i == len(b.nodes)-1
		if asked.Softirqs.Exclusive || end && asked.Load.Exclusive {
			names = append(names, n.Name)
		}
		for _, m := range n.members() {
			if programs[m.Name] && asked.Functions.Exclusive && !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

// note what a list in the file names, if there is one.
func (p *placing) note(list string) {
	cpus, _ := api.ParseCPUList(list)
	for _, cpu := range cpus {
		p.named[cpu] = true
	}
}

// choose a CPU for each of the nodes: the one that it has, where it may keep that. The first is had last: most
// interrupts go there.
func (p *placing) choose(nodes []string) error {
	var unnamed, free []int
	for _, cpu := range p.allowed {
		if p.named[cpu] {
			continue
		}
		unnamed = append(unnamed, cpu)
		if !p.claims.taken(p.owner, cpu) {
			free = append(free, cpu)
		}
	}
	if len(free) < len(nodes) {
		return fmt.Errorf("exclusive needs %s, one each for %s, and of those that nfchain may use (%s) %d are not named for anything else%s; share some of the work, or leave some to the kernel (none)",
			words.Plural(len(nodes), "CPU"), strings.Join(nodes, ", "), words.Ranges(p.allowed), len(free), p.others(unnamed))
	}
	free, nodes = p.keep(nodes, free)
	if p.near != nil {
		return p.chooseNear(nodes, free)
	}
	for i, cpu := range free[len(free)-len(nodes):] {
		p.own[nodes[i]] = cpu
	}
	return nil
}

// keep what nodes have been given, of the CPUs that are free; those that are left, and the nodes that have none yet.
func (p *placing) keep(nodes []string, free []int) (left []int, without []string) {
	left = slices.Clone(free)
	for _, name := range nodes {
		cpu, has := p.claims[p.owner].Own[name]
		at := slices.Index(left, cpu)
		if !has || at < 0 || !slices.Contains(p.nearTo(name, left), cpu) {
			without = append(without, name)
			continue
		}
		p.own[name], left = cpu, slices.Delete(left, at, at+1)
	}
	return left, without
}

// others have some of these CPUs, as it stands in a sentence.
func (p *placing) others(cpus []int) string {
	who := p.claims.others(p.owner, cpus)
	if who == "" {
		return ""
	}
	return " (" + who + "; `nfchain down` frees them)"
}

// result is who has which CPUs.
func (p *placing) result(nodes []Node, programs map[string]bool) (*Placement, error) {
	out := &Placement{Functions: map[string]string{}, Softirqs: map[string]string{}, chosenOf: p.allowed}
	for _, cpu := range p.own {
		out.own = append(out.own, cpu)
	}
	for _, n := range nodes {
		list, err := p.exactly(n.Name, p.asked.Softirqs)
		if err != nil {
			return nil, fmt.Errorf("softirqs: %w", err)
		}
		if list != "" {
			out.Softirqs[n.Name] = list
		}
	}
	slices.Sort(out.own)
	if len(out.own) > 0 {
		out.Own = words.Ranges(out.own)
	}
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		if !programs[name] {
			continue
		}
		list, err := p.clear(name, p.asked.Functions)
		if err != nil {
			return nil, fmt.Errorf("functions: %w", err)
		}
		if list != "" {
			out.Functions[name] = list
		}
	}
	var err error
	out.Memory = p.nodesOfMemory()
	for i, to := range map[int]*string{0: &out.Client, len(nodes) - 1: &out.Server} {
		if *to, err = p.clear(nodes[i].Name, p.asked.Load); err != nil {
			return nil, fmt.Errorf("load: %w", err)
		}
	}
	return out, nil
}

// exactly what was asked for.
func (p *placing) exactly(node string, asked api.CPUs) (string, error) {
	if asked.Exclusive {
		return words.Ranges([]int{p.own[node]}), nil
	}
	cpus, err := api.ParseCPUList(asked.Shared)
	if err != nil {
		return "", nil // there is no list
	}
	near := p.nearTo(node, cpus)
	if len(near) == 0 {
		return "", fmt.Errorf("none of CPUs %s is of memory node %d, where %s is to be", asked.Shared, p.near[node], called(node))
	}
	return words.Ranges(near), nil
}

// clear is what was asked for, or else what nobody has to itself.
func (p *placing) clear(node string, asked api.CPUs) (string, error) {
	if list, err := p.exactly(node, asked); err != nil || list != "" || len(p.own) == 0 && p.near == nil {
		return list, err
	}
	var rest []int
	for _, cpu := range p.nearTo(node, p.allowed) {
		if !p.isOwn(cpu) {
			rest = append(rest, cpu)
		}
	}
	if len(rest) == 0 {
		return "", fmt.Errorf("others have every CPU (%s) to themselves, and none is left for %s; share some of the work", words.Ranges(p.allowed), called(node))
	}
	return words.Ranges(rest), nil
}

func (p *placing) isOwn(cpu int) bool {
	for _, own := range p.own {
		if own == cpu {
			return true
		}
	}
	return false
}

// called is how a node is called in a sentence.
func called(node string) string {
	if node == WiringNode {
		return "what the wiring runs between the nodes"
	}
	return node
}

// placeWiring binds what a wiring runs between the nodes, the work of which is that of
// softirqs: where those are shared it is done there, else by no CPU that one has to itself.
func (b *builder) placeWiring() error {
	for i, r := range b.resources {
		s, runs := r.Spec.(ovs.Spec)
		if !runs {
			continue
		}
		cpus, err := b.between()
		if err != nil {
			return err
		}
		b.resources[i].Spec = s.OnCPUs(cpus)
	}
	return nil
}

// between are the CPUs of what a wiring runs between the nodes, which the plan then has.
func (b *builder) between() (string, error) {
	if b.placing == nil {
		return "", nil
	}
	cpus, err := b.placing.clear(WiringNode, api.CPUs{Shared: b.placing.asked.Softirqs.Shared})
	if err != nil {
		return "", fmt.Errorf("placement.softirqs: %w", err)
	}
	b.placement.Wiring = cpus
	return cpus, nil
}

// resourcesOf a function, with the CPUs of its placement.
func (b *builder) resourcesOf(m Member) *api.Resources {
	if b.placement == nil || b.placement.Functions[m.Name] == "" {
		return m.body.Resources
	}
	r := api.Resources{}
	if m.body.Resources != nil {
		r = *m.body.Resources
	}
	r.CPUs = b.placement.Functions[m.Name]
	return &r
}

// Affinity is that of the load, as it is given or, where that leaves it to the chain, as
// the placement has it.
func (p *Placement) Affinity(given string) (string, error) {
	left := given == "" || given == api.AffinityNone
	switch {
	case given == AffinityExclusive && (p == nil || p.Client == p.Server):
		return "", errors.New("the load is to have CPUs of its own, and the chain gives it none; write placement: {load: exclusive}")
	case !left && given != AffinityExclusive || p == nil || p.Client == "":
		return given, nil
	case p.Client == p.Server:
		return p.Client, nil
	}
	return p.Client + "/" + p.Server, nil
}

// AffinityExclusive is the affinity of a load that the chain gives CPUs of its own.
const AffinityExclusive = "exclusive"

// workers are what handles what an interface receives.
func (p *Placement) workers() string {
	if p.threads {
		return "NAPI threads"
	}
	return "softirqs"
}

// text is the placement for a person.
func (p *Placement) text(nodes []Node) string {
	if p == nil {
		return ""
	}
	var parts []string
	for _, n := range nodes {
		for _, m := range n.members() {
			if cpus := p.Functions[m.Name]; cpus != "" {
				parts = append(parts, m.Name+" on "+cpus)
			}
		}
	}
	if p.Client != "" {
		parts = append(parts, fmt.Sprintf("load on %s at %s and %s at %s", p.Client, nodes[0].Name, p.Server, nodes[len(nodes)-1].Name))
	}
	for _, n := range nodes {
		if cpus := p.Softirqs[n.Name]; cpus != "" {
			parts = append(parts, p.workers()+" of "+n.Name+" on "+cpus)
		}
	}
	if p.Wiring != "" {
		parts = append(parts, "wiring on "+p.Wiring)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Memory)) {
		parts = append(parts, fmt.Sprintf("memory of %s at node %d", name, p.Memory[name][0]))
	}
	if len(parts) == 0 {
		return ""
	}
	return "CPUs: " + strings.Join(parts, "; ") + "\n"
}

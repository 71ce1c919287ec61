package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/wiring"
)

// since is what is to be told of a plan since the chain was whole as it was: which functions come to be others under their names.
type since struct {
	comes    []plan.Replacing
	warnings []string
	// others tells that some may.
	others bool
	// was is how it was whole, which takes a while to find out; nil where that is not known.
	was func() *plan.Plan
}

func (s since) tell(p *plan.Plan) {
	p.Replaces, p.Warnings = s.comes, slices.Concat(p.Warnings, s.warnings)
}

// coming are the nodes of a plan that no packet went to before, and whose programs packets need, or take the place of others.
func (s since) coming(p *plan.Plan) map[string]bool {
	if s.was == nil || !s.others && !slices.ContainsFunc(p.Functions(), func(n plan.Node) bool { return n.PassesOn() || n.NSH != nil }) {
		return nil
	}
	there, known, instances := map[string]bool{}, map[string]bool{}, map[string]bool{}
	if was := s.was(); was != nil {
		for _, n := range was.Functions() {
			there[n.Name], known[n.InFile()], instances[n.Function()] = true, true, true
		}
	}
	all := map[string]bool{}
	for _, n := range p.Functions() {
		if (!there[n.Name] || !netns.Exists(n.Namespace)) && !n.InPlace() && (n.PassesOn() || n.NSH != nil || known[n.InFile()] && !instances[n.Function()]) {
			all[n.Name] = true
		}
	}
	return all
}

// asReplaced is how a chain is made that may be up as another. What a bench makes for itself is changed where it is: nothing that it measures is beside
// something else.
func (h *Host) asReplaced(chain api.Chain, through []api.StandaloneFunction, o UpOptions) (plan.Options, since) {
	as := h.as(chain, o.Options)
	if !o.Temporary {
		return h.since(chain, through, as)
	}
	if kept, err := remembered(chain.Metadata.Name); err == nil && h.steers(chain) {
		as.Instances = kept.Instances
	}
	return as, since{}
}

// since has functions that come to be others under their names put in beside what is there, by other instances, where a forwarder leads new flows
// to these. What is there is as it was when all of it was last there, or as an edit was to make it that came to no end since: who takes that back has
// what there was.
func (h *Host) since(chain api.Chain, through []api.StandaloneFunction, o plan.Options) (plan.Options, since) {
	versions := h.versions(chain)
	if len(versions) == 0 {
		return o, since{}
	}
	told := since{warnings: unnamedSince(versions[0].chain.Spec, chain.Spec)}
	may := func(v version) bool {
		return len(v.Instances) > 0 || mayReplace(v.chain.Spec, chain.Spec) || mayReturn(v.chain, chain)
	}
	if !h.steers(chain) {
		return o, told
	}
	told.was = func() *plan.Plan {
		p, err := h.planned(versions[0].file, versions[0].Remembered)
		if err != nil {
			return nil
		}
		return p
	}
	if told.others = slices.ContainsFunc(versions, may); !told.others {
		return o, told
	}
	facts, err := h.facts(chain, through, nil)
	if err != nil {
		return o, told // which the plan itself is refused for
	}
	var all []compared
	for _, v := range versions {
		if c, err := h.compared(chain, facts, o, v); err == nil {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return o, told
	}
	o.Instances = map[string]int{}
	for _, n := range all[0].is.Functions() {
		name := n.InFile()
		if !n.Made || n.Again() || len(n.Functions) > 0 || n.Kind == plan.StopKind {
			continue
		}
		number := instance(chain.Metadata.Name, name, all)
		if number == 0 {
			number = h.again(all[0].is, n)
		}
		if o.Instances[name] = number; number != all[0].is.Instances[name] && all[0].beside[name] != "" {
			told.comes = append(told.comes, plan.Replacing{Function: name, Node: plan.InstanceOf(name, number), What: all[0].beside[name]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all[0].inPlace)) {
		told.warnings = append(told.warnings, fmt.Sprintf("function %s %s where it is, so that packets are lost meanwhile; under another name it is put in beside what is there, and none is", name, all[0].inPlace[name]))
	}
	return o, told
}

// version of a chain that is remembered.
type version struct {
	Remembered
	file  *api.File
	chain api.Chain
}

// versions of a chain over the same wiring: as it was when all of it was last there, and as it was last asked for, if that is another.
func (h *Host) versions(chain api.Chain) (all []version) {
	for _, recall := range []func(string) ([]byte, error){deploy.RecallSettled, deploy.Recall} {
		text, err := recall(chain.Metadata.Name)
		if err != nil {
			continue
		}
		v := version{}
		if err := json.Unmarshal(text, &v.Remembered); err != nil {
			continue
		}
		if v.file, err = h.Words.Decode(chain.Metadata.Name, v.Document); err != nil || len(v.file.Chains) == 0 {
			continue
		}
		v.chain = v.file.Chains[0]
		same := func(o version) bool {
			return bytes.Equal(o.Document, v.Document) && maps.Equal(o.Instances, v.Instances) && maps.Equal(o.Images, v.Images)
		}
		if v.chain.Spec.Wiring == chain.Spec.Wiring && !slices.ContainsFunc(all, same) {
			all = append(all, v)
		}
	}
	return all
}

// compared is a chain as it would be with the instances of a version, and what is another then.
type compared struct {
	is              *plan.Plan
	has             map[string]bool
	beside, inPlace map[string]string
}

func (h *Host) compared(chain api.Chain, facts plan.Facts, o plan.Options, v version) (c compared, err error) {
	was, err := h.planned(v.file, v.Remembered)
	if err != nil {
		return c, err
	}
	o.Instances = v.Instances
	if c.is, err = h.instanced(chain, facts, o); err != nil {
		return c, err
	}
	c.has = map[string]bool{}
	for _, n := range was.Functions() {
		if is := slices.IndexFunc(c.is.Functions(), func(o plan.Node) bool { return o.Name == n.Name }); is >= 0 {
			c.has[n.InFile()] = true // else it is another that has replicas, or none any more
		}
	}
	c.beside, c.inPlace = c.is.Replaced(was)
	for name := range c.beside {
		if h.dead(was, name) {
			delete(c.beside, name) // nothing gets through there, whose flows would stay with it
		}
	}
	return c, nil
}

// dead tells whether nothing gets through a function: packets go through its programs, or its containers have ended, and all of them do not run.
func (h *Host) dead(p *plan.Plan, name string) bool {
	programs, err := process.Statuses(p.Chain)
	if err != nil {
		return false
	}
	any := false
	for _, s := range programs {
		i := slices.IndexFunc(p.Functions(), func(n plan.Node) bool { return n.InFile() == name && n.Has(s.Node) })
		if i < 0 {
			continue
		}
		n, ended := p.Functions()[i], s.State == process.Waiting || s.State == process.Ended
		if s.Done() || !n.PassesOn() && n.NSH == nil && !(n.Runtime != "" && ended) {
			return false
		}
		any = true
	}
	return any
}

// instance of a function that it has in the first of some versions in which it is the same, or else the next one; 0 where none has it.
func instance(chain, name string, versions []compared) int {
	had := map[int]bool{}
	for _, c := range versions {
		number := max(c.is.Instances[name], 1)
		if c.beside[name] == "" && (c.has[name] || c.inPlace[name] != "") {
			return number
		}
		had[number] = had[number] || c.has[name]
	}
	if !slices.Contains(slices.Collect(maps.Values(had)), true) {
		return 0
	}
	return next(chain, name, had)
}

// again is the number of the instance of a function that the chain had not. One of its name may be there for flows from before it was taken out: that
// is taken back where it is the same, and has another put in beside it where it is not.
func (h *Host) again(p *plan.Plan, n plan.Node) int {
	if !netns.Exists(namespace.Name(p.Chain, n.Name)) {
		return 1
	}
	changes, err := drift(context.Background(), p)
	same := func(c resource.Change) bool {
		return c.Namespace != n.Namespace && !(c.Kind == process.KindName && n.Has(c.Key)) && !(c.Kind == container.KindName && c.Key == n.Namespace)
	}
	if err == nil && !slices.ContainsFunc(changes, func(c resource.Change) bool { return !same(c) }) {
		return 1
	}
	return next(p.Chain, n.InFile(), nil)
}

// mayReplace tells whether any function may be another than it was: all that containers are made from is not in the chain's file.
func mayReplace(was, is api.ChainSpec) bool {
	if was.Runtime != is.Runtime {
		return true
	}
	return slices.ContainsFunc(is.Functions, func(f api.Function) bool {
		i := slices.IndexFunc(was.Functions, func(old api.Function) bool { return old.Name == f.Name })
		runtime := cmp.Or(f.Runtime, is.Runtime)
		return i >= 0 && (runtime == api.RuntimeAuto || api.IsEngine(runtime) || f.Encapsulation != was.Functions[i].Encapsulation || !reflect.DeepEqual(f.FunctionBody, was.Functions[i].FunctionBody))
	})
}

// mayReturn tells whether any function comes of whose name something is there, for flows from before it was taken out.
func mayReturn(was, is api.Chain) bool {
	return slices.ContainsFunc(is.Spec.Functions, func(f api.Function) bool {
		known := slices.ContainsFunc(was.Spec.Functions, func(old api.Function) bool { return old.Name == f.Name })
		return !known && slices.ContainsFunc(f.NodeNames(), func(node string) bool { return netns.Exists(namespace.Name(is.Metadata.Name, node)) })
	})
}

// instanced is the plan of a chain in which no function has an instance that has no node of its own now.
func (h *Host) instanced(chain api.Chain, facts plan.Facts, o plan.Options) (*plan.Plan, error) {
	p, err := plan.Make(chain, h.Catalogue, facts, o)
	if err != nil {
		return nil, err
	}
	instances := map[string]int{}
	for _, n := range p.Nodes {
		if n.Called != "" && n.Made && !n.Brought {
			instances[n.Called] = o.Instances[n.Called]
		}
	}
	if len(instances) == len(p.Instances) {
		return p, nil
	}
	o.Instances = instances
	return plan.Make(chain, h.Catalogue, facts, o)
}

// next is the least number of an instance of a function that it had not, and of which nothing is there.
func next(chain, name string, had map[int]bool) int {
	there := func(number int) bool {
		is := plan.InstanceOf(name, number)
		return netns.Exists(namespace.Name(chain, is)) || netns.Exists(namespace.Name(chain, is+"-1"))
	}
	number := 1
	for had[number] || there(number) {
		number++
	}
	return number
}

// unnamedSince warns of addresses that functions had connections by, and have no more.
func unnamedSince(was, is api.ChainSpec) (warnings []string) {
	for _, f := range is.Functions {
		i := slices.IndexFunc(was.Functions, func(old api.Function) bool { return old.Name == f.Name })
		if i >= 0 && f.Ref == "" && was.Functions[i].Ref == "" {
			warnings = append(warnings, unnamed(was.Functions[i], f)...)
		}
	}
	return warnings
}

// unnamed warns of addresses that a function had connections by, and has no more.
func unnamed(old, f api.Function) []string {
	before, was := old.Options.(function.Addressed)
	now, is := f.Options.(function.Addressed)
	if !was || !is {
		return nil
	}
	var gone []string
	for _, a := range before.Named() {
		if !slices.Contains(now.Named(), a) {
			gone = append(gone, a.String())
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("function %s no longer has %s: connections that it gave that address, or that were sent there, end", f.Name, strings.Join(gone, " and "))}
}

// steers tells whether a chain's wiring sends packets on by itself.
func (h *Host) steers(chain api.Chain) bool {
	_, is := h.Catalogue.Wirings[chain.Spec.Wiring].(wiring.Steered)
	return is
}

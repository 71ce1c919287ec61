package plan

import (
	"errors"
	"fmt"
	"net/netip"
	"sort"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/qdisc"
	"nfchain.dev/nfchain/internal/resource/redirect"
)

// MakeFunction plans a function that stands alone: its namespace and what it does
// there. What it does on interfaces comes with the chain that refers to it, which
// brings them. Of the facts it needs what the machine has: features and CPUs.
func MakeFunction(f api.StandaloneFunction, c Catalogue, facts Facts) (*Plan, error) {
	name := f.Metadata.Name
	kind, ok := c.Functions[f.Spec.Kind]
	if !ok {
		return nil, fmt.Errorf("function %s: there is no function kind %q", name, f.Spec.Kind)
	}
	if err := errors.Join(standsAlone(f.Spec), usesHugepages(kind, f.Spec)); err != nil {
		return nil, about(err, "function "+name)
	}
	options := settled(kind, f.Spec.Options, facts.Has)
	n := Node{Name: name, Kind: f.Spec.Kind, Namespace: namespace.Alone(name), Made: true}
	p := &Plan{SchemaVersion: 1, Chain: name, Nodes: []Node{n}, Blocks: []netip.Prefix{}, Requires: append([]string{"netns"}, kind.Requires(options)...)}
	sort.Strings(p.Requires)
	if f.Spec.Resources != nil {
		cpus, err := facts.named(f.Spec.Resources.CPUs)
		if err != nil {
			return nil, feature.Lacking(fmt.Errorf("function %s: resources.cpus: %w", name, err))
		}
		p.claim = Claim{Named: cpus}
	}
	p.Resources = []resource.Resource{resource.New("", namespace.Spec{Name: n.Namespace, Sysctls: namespace.Sysctls(true, true)})}
	made, err := kind.Contribute(function.Site{Owner: name, Node: name, Namespace: n.Namespace, Resources: f.Spec.Resources, Needs: need(n)}, options)
	if err != nil {
		return nil, fmt.Errorf("function %s: %w", name, err)
	}
	for _, r := range made {
		if !onInterface(r) {
			p.Resources = append(p.Resources, r)
		}
	}
	return p, nil
}

// standsAlone refuses what is for functions of a chain.
func standsAlone(f api.FunctionBody) error {
	var refused []error
	if f.Direction != api.Both && f.Direction != "" {
		refused = append(refused, errors.New("a standalone function acts on both directions; leave direction out"))
	}
	if f.Runtime == api.RuntimeInline {
		refused = append(refused, fmt.Errorf("a standalone function has a namespace; leave runtime: %s out", api.RuntimeInline))
	}
	return errors.Join(refused...)
}

// onInterface tells whether a resource belongs to an interface, and so to the
// chain that brings it.
func onInterface(r resource.Resource) bool {
	return r.Kind == qdisc.KindName || r.Kind == redirect.KindName || r.Kind == pass.KindName
}

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/words"
)

// Claim is which CPUs the owner of a plan is given, which others then keep off.
type Claim struct {
	// Own are those that one of its nodes has to itself, by node.
	Own map[string]int `json:"own,omitempty"`
	// Named are those that its file names for something, in ascending order; others may name them too.
	Named []int `json:"named,omitempty"`
}

// Empty tells that it is given none.
func (c Claim) Empty() bool { return len(c.Own) == 0 && len(c.Named) == 0 }

// Has tells that a claim takes in another: whoever has it need ask nobody for the other.
func (c Claim) Has(other Claim) bool {
	for node, cpu := range other.Own {
		if own, has := c.Own[node]; !has || own != cpu {
			return false
		}
	}
	return !slices.ContainsFunc(other.Named, func(cpu int) bool { return !slices.Contains(c.Named, cpu) })
}

// With is a claim and another together. A node that has a CPU of its own in both has that of the other, and
// the one from before is named, as long as what was bound to it may run there.
func (c Claim) With(other Claim) Claim {
	all := Claim{Own: maps.Clone(other.Own), Named: slices.Concat(c.Named, other.Named)}
	if all.Own == nil {
		all.Own = map[string]int{}
	}
	for node, cpu := range c.Own {
		if now, has := all.Own[node]; !has {
			all.Own[node] = cpu
		} else if now != cpu {
			all.Named = append(all.Named, cpu)
		}
	}
	slices.Sort(all.Named)
	all.Named = slices.Compact(all.Named)
	return all
}

// Claim is what the plan's owner is to be given.
func (p *Plan) Claim() Claim { return p.claim }

// Claims are what owners on this machine have been given, by owner.
type Claims map[string]Claim

// Clashing is an error where a plan names a CPU that another than its owner has to itself: that of a standalone function, which is
// made without [Facts].
func (c Claims) Clashing(p *Plan) error {
	if err := c.clashing(p.Chain, p.claim.Named); err != nil {
		return feature.Lacking(fmt.Errorf("function %s: resources.cpus: %w", p.Chain, err))
	}
	return nil
}

// clashing is an error where an owner names a CPU that another has to itself.
func (c Claims) clashing(owner string, cpus []int) error {
	for _, other := range slices.Sorted(maps.Keys(c)) {
		if other == owner {
			continue
		}
		for _, node := range slices.Sorted(maps.Keys(c[other].Own)) {
			if own := c[other].Own[node]; slices.Contains(cpus, own) {
				return fmt.Errorf("CPU %d is %s's of %s alone (placement: exclusive); name others, or `nfchain down %s`", own, node, other, other)
			}
		}
	}
	return nil
}

// all CPUs that an owner has to itself or names, none of which can be another's own.
func (c Claim) all() (cpus []int) {
	return append(slices.Collect(maps.Values(c.Own)), c.Named...)
}

// others than the owner have these of some CPUs, in words; "" where none has any.
func (c Claims) others(owner string, cpus []int) string {
	var who []string
	for _, other := range slices.Sorted(maps.Keys(c)) {
		has := slices.DeleteFunc(c[other].all(), func(cpu int) bool { return !slices.Contains(cpus, cpu) })
		if other == owner || len(has) == 0 {
			continue
		}
		slices.Sort(has)
		who = append(who, fmt.Sprintf("%s has %s", other, words.Ranges(slices.Compact(has))))
	}
	return strings.Join(who, ", ")
}

// taken tells whether another than the owner has a CPU.
func (c Claims) taken(owner string, cpu int) bool {
	for other, claim := range c {
		if other != owner && slices.Contains(claim.all(), cpu) {
			return true
		}
	}
	return false
}

// listed is a list of CPUs, and the field that it stands in.
type listed struct{ field, list string }

// lists are the CPUs that the chain's file names.
func (b *builder) lists() (all []listed) {
	asked := b.chain.Spec.Placement
	all = []listed{{"placement.functions", asked.Functions.Shared}, {"placement.load", asked.Load.Shared}, {"placement.softirqs", asked.Softirqs.Shared}}
	for _, n := range b.nodes {
		for _, m := range n.members() {
			if r := m.body.Resources; r != nil && !n.shared { // those of a standalone function are its own
				all = append(all, listed{"function " + m.Name + ": resources.cpus", r.CPUs})
			}
		}
	}
	return all
}

// named are the CPUs of a list in a file; one that is not there is an error.
func (f Facts) named(list string) ([]int, error) {
	cpus, err := api.ParseCPUList(list)
	if err != nil {
		return nil, nil // there is no list, or the file was refused for it
	}
	for _, cpu := range cpus {
		if f.Nameable != nil && !slices.Contains(f.Nameable, cpu) {
			return nil, fmt.Errorf("there is no CPU %d for nfchain, which may use %s", cpu, words.Ranges(f.Nameable))
		}
	}
	return cpus, nil
}

// claimNamed notes the CPUs that the file names, and refuses those that are not there, or that another chain has to itself.
func (b *builder) claimNamed() error {
	for _, l := range b.lists() {
		cpus, err := b.facts.named(l.list)
		if err != nil {
			return feature.Lacking(fmt.Errorf("%s: %w", l.field, err))
		}
		if err := b.facts.Claims.clashing(b.chain.Metadata.Name, cpus); err != nil {
			return feature.Lacking(fmt.Errorf("%s: %w", l.field, err))
		}
		b.claim = b.claim.With(Claim{Named: cpus})
	}
	return nil
}

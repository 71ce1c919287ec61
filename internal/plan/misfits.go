package plan

import (
	"maps"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// Functions that leave their runtime to the plan are inline where they can be. Whether that suits the paths that a classifier leads by is known
// once there are all nodes, which depends on what is inline. So where a plan is refused, those that do not suit it are to have namespaces, and it is
// made again. Each time some more have, so that it ends.

// unfit are the runtimes with which a plan that was refused is to be made again, since functions that left theirs to it are inline; nil
// where it is not for these.
func (b *builder) unfit() map[string]string {
	if b.chain.Spec.Classifier == nil {
		return nil
	}
	names := b.misfits
	if len(names) == 0 {
		for _, f := range b.inline {
			if b.left(f) {
				names = append(names, f.Name)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	all := map[string]string{}
	maps.Copy(all, b.options.Runtimes)
	for _, name := range names {
		all[name] = api.RuntimeNetns
	}
	return all
}

// left tells whether a function left its runtime to this plan.
func (b *builder) left(f Inline) bool {
	return b.runtimes[f.Name] != "" && b.options.Runtimes[f.Name] == ""
}

// misfitsOn paths are those that are to have a namespace, of the functions that are inline on each hop and wrong there: the first one of them if some path goes by
// it and not by the node before, or the other way round, and the last one if that is so of the node behind. Those between them may suit
// the paths then.
func (b *builder) misfitsOn(c *Classifier, wrong []Inline) (names []string) {
	for hop := range len(b.nodes) - 1 {
		var row []Inline
		for _, f := range wrong {
			if f.hop == hop {
				row = append(row, f)
			}
		}
		if len(row) == 0 {
			continue
		}
		first, last := row[0], row[len(row)-1]
		before, behind := !c.alike(first, hop), !c.alike(last, hop+1)
		if before && b.left(first) {
			names = append(names, first.Name)
		}
		if behind && b.left(last) {
			names = append(names, last.Name)
		}
		for _, f := range row {
			if !before && !behind && b.left(f) {
				names = append(names, f.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// alike tells whether the same paths go by a function and by a node.
func (c *Classifier) alike(f Inline, node int) bool {
	return !slices.ContainsFunc(c.Paths, func(p Path) bool { return slices.Contains(p.Functions, f.Name) != p.by(node) })
}

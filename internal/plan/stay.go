package plan

import (
	"slices"

	"nfchain.dev/nfchain/internal/resource/steer"
)

// together tells whether all packets of a chain with a classifier go a new way at once, as they do where functions get headers and what
// leads there by branches says by which path: it knows one version of the path alone.
func (b *builder) together() bool {
	return b.chain.Spec.Classifier != nil && b.chain.Spec.Parts() && slices.ContainsFunc(b.nodes, func(n Node) bool { return n.NSH != nil })
}

// gather has no flow stay on the path that it began on where that is so, but where ports lead one way.
func (b *builder) gather() {
	if !b.together() {
		return
	}
	for i, r := range b.resources {
		if s, is := r.Spec.(steer.Spec); is && (s.Among != nil || s.Branch != nil || s.Paths != nil) {
			s.Stay = nil
			b.resources[i].Spec = s
		}
	}
}

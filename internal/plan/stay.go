package plan

import (
	"nfchain.dev/nfchain/internal/resource/steer"
)

// together has all packets of a chain with a classifier go a new way at once at ports that lead by branches, or behind what takes out
// other paths: they know no versions of the path. Others do so where an edit turns them beside such a port.
func (b *builder) together() {
	if b.chain.Spec.Classifier == nil {
		return
	}
	for i, r := range b.resources {
		if s, is := r.Spec.(steer.Spec); is && (s.Among != nil || s.Branch != nil) {
			s.Stay = nil
			b.resources[i].Spec = s
		}
	}
}

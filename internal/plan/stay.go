package plan

import (
	"nfchain.dev/nfchain/internal/resource/steer"
)

// together has all packets of a chain go a new path at once, where its ports tell paths apart in another way: they
// know no versions of those. Ports at replicas and branches go their new way at once, too, and others do so
// where an edit turns them beside such a port.
func (b *builder) together() {
	classified := false
	for _, r := range b.resources {
		s, is := r.Spec.(steer.Spec)
		classified = classified || is && s.Paths != nil
	}
	for i, r := range b.resources {
		if s, is := r.Spec.(steer.Spec); is && (classified || s.Among != nil || s.Branch != nil) {
			s.Stay = nil
			b.resources[i].Spec = s
		}
	}
}

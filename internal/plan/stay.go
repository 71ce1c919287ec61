package plan

import (
	"nfchain.dev/nfchain/internal/resource/steer"
)

// together has all packets go a new way at once at ports that lead to replicas or by branches: they know no versions of the
// path. Others do so where an edit turns them beside such a port.
func (b *builder) together() {
	for i, r := range b.resources {
		if s, is := r.Spec.(steer.Spec); is && (s.Among != nil || s.Branch != nil) {
			s.Stay = nil
			b.resources[i].Spec = s
		}
	}
}

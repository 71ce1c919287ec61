package plan

import (
	"nfchain.dev/nfchain/internal/resource/steer"
)

// together has all packets of a chain go a new path at once, where flows cannot stay on theirs at
// each of its ports.
func (b *builder) together() error {
	if err := b.unwatched(); err != nil {
		return err
	}
	stays := true
	for _, r := range b.resources {
		if s, is := r.Spec.(steer.Spec); is {
			stays = stays && s.Among == nil && s.Paths == nil && s.Branch == nil
		}
	}
	for _, f := range b.chain.Spec.Functions {
		stays = stays && f.OnFailure == ""
	}
	for i, r := range b.resources {
		if s, is := r.Spec.(steer.Spec); is && !stays {
			s.Stay = nil
			b.resources[i].Spec = s
		}
	}
	return nil
}

package supervise

import "nfchain.dev/nfchain/internal/resource/steer"

// leaving is what replicas that are taken out are left; nil where there are none, or nobody tells.
func (s *supervisor) leaving() (*steer.Leaving, error) {
	if s.config.Leaving == nil {
		return nil, nil
	}
	return s.config.Leaving()
}

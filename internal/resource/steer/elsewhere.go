package steer

import (
	"regexp"

	"nfchain.dev/nfchain/internal/resource"
)

// leadElsewhere tells whether changes have ports that were there lead elsewhere, and not only to other replicas of the same functions.
func leadElsewhere(p resource.Place, changes []resource.Change) (bool, error) {
	for _, c := range changes {
		s, is := c.Spec.(Spec)
		if !is || !LeadsElsewhere(c) {
			continue
		}
		front, rest := s.apart()
		turned, fits, err := turnedAt(p, *rest, front)
		if turned || !fits || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// byWhat is what a fingerprint has of the program at a port.
var byWhat = regexp.MustCompile(", by [^ ]+ at [^ ,]+")

// LeadsElsewhere tells whether a change has a port that was there lead to others than before: to other replicas of the same functions, too.
func LeadsElsewhere(c resource.Change) bool {
	return c.Kind == KindName && c.Op == resource.Update &&
		byWhat.ReplaceAllString(c.Was, "") != byWhat.ReplaceAllString(c.Spec.Fingerprint(), "")
}

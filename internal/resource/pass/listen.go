package pass

import (
	"slices"
	"time"

	"nfchain.dev/nfchain/internal/resource"
)

// A NAT that is put in knows no connection, and cannot tell a packet in the middle of one from a packet that opens one: whichever
// way the first comes by that it sees, says. So the pass of answers is put first, and that which translates when those have
// come that are under way: a second later, in which TCP has sent a segment again that was lost (RFC 6298 section 2), and
// as many times longer as who waits was woken late. On a machine that is so busy the ends wait for their turn as well.
const (
	listening, lately = time.Second, 4
	nap               = 10 * time.Millisecond
)

// opening are the interfaces of changed passes in which connections are translated by a NAT that was not there.
func (k Kind) opening(n *neighbours, changes []resource.Change) (fresh map[string]bool, err error) {
	if !k.Listens {
		return nil, nil
	}
	var known []knowing
	for _, c := range changes {
		s, is := c.Spec.(Spec)
		if c.Op == resource.Delete || !is || !translates(s.Steps) {
			continue
		}
		if known == nil {
			all, err := n.all()
			if err != nil {
				return nil, err
			}
			known = slices.DeleteFunc(slices.Clone(all), func(of knowing) bool { return k.Aside != nil && k.Aside(of.at) })
		}
		for _, nat := range s.NATs {
			if !nat.Answers && !translatedBy(known, nat) {
				if fresh == nil {
					fresh = map[string]bool{}
				}
				fresh[s.Device] = true
			}
		}
	}
	return fresh, nil
}

// translatedBy tells whether one of several passes has a NAT that translates what opens connections: one that only hears answers may have been
// left by whoever was interrupted. That of another version may.
func translatedBy(known []knowing, nat NAT) bool {
	for _, k := range known {
		if k.steps == nil && k.maps[natFlowsMap] != nil {
			return true
		}
		for _, s := range translations(k.steps) {
			if s.opens() && s.whose() == nat.whose() {
				return true
			}
		}
	}
	return false
}

// hear for as long as answers to what is under way may take. Who is interrupted leaves the pass of answers, and whoever comes next hears again.
func (k Kind) hear() error {
	late := time.Duration(0)
	for since := time.Now(); time.Since(since) < listening+lately*late; {
		woken, err := k.pause(nap)
		if err != nil {
			return err
		}
		late = max(late, woken)
	}
	return nil
}

// pause for a while.
func (k Kind) pause(while time.Duration) (late time.Duration, err error) {
	if k.Pause != nil {
		return k.Pause(while)
	}
	slept := time.Now()
	time.Sleep(while)
	return time.Since(slept) - while, nil
}

package steer

import "errors"

// Numbers of replicas, a bit for each from the first.
type Numbers uint64

// Number of a replica.
func Number(n int) Numbers { return 1 << (n - 1) }

// Has tells whether a replica is among them.
func (n Numbers) Has(replica int) bool { return n&Number(replica) != 0 }

// others are the replicas that are not among them; all, where none would be left.
func (n Numbers) others(all []Replica) (others []Replica) {
	for _, r := range all {
		if !n.Has(r.Number) {
			others = append(others, r)
		}
	}
	if others == nil {
		return all
	}
	return others
}

// Which replicas new flows go to: as the chain is to be, and while some fail.
const (
	asPlanned    = uint32(0)
	whileFailing = uint32(1)
)

// Shares tells whether packets may go to replicas from the port.
func (p *Port) Shares() bool { return p.at.Maps[failingMap] != nil }

// Failing are the replicas to which no packets go for now, of those that the port faces.
func (p *Port) Failing() (Numbers, error) { return p.at.dealing().fail() }

// Shares of new flows, which replicas get.
type Shares struct{ of [buckets]byte }

// SharesWithout some replicas, of all that there are.
func SharesWithout(failing Numbers, all []Replica) *Shares {
	return &Shares{sharesOf(failing.others(all))}
}

// SetFailing has flows of some replicas go to others, which get these shares, and stay there. New flows
// come to those that are no longer among them.
func (p *Port) SetFailing(failing Numbers, others *Shares) error {
	d := p.at.dealing()
	was, err := d.fail()
	if err != nil {
		return err
	}
	// No flow is entered for a replica that others are told to keep away from.
	return errors.Join(
		d.failing.Put(uint32(0), uint64(was&failing)),
		d.shares.Put(whileFailing, others.of[:]),
		d.failing.Put(uint32(0), uint64(failing)))
}

func (d dealing) fail() (failing Numbers, err error) {
	err = d.failing.Lookup(uint32(0), (*uint64)(&failing))
	return failing, err
}

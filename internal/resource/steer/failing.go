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

// Shared is what stands in the place of a port where packets go to a function's replicas from this one; false where they
// never do.
func (p *Port) Shared(of string) (number uint32, is bool) {
	seat, is := p.at.taken[table(of)]
	return Replicas - seat, is && p.at.Maps[failingMap] != nil
}

// shared is where packets are dealt out to the replicas of a function.
func (p *Port) shared(of string) dealing {
	number, _ := p.Shared(of)
	return p.at.seats().at(Replicas - number)
}

// Failing are the replicas of a function to which no packets go for now from the port, which may lead there.
func (p *Port) Failing(of string) (Numbers, error) { return p.shared(of).fail() }

// Shares of new flows, which replicas get.
type Shares struct{ of [buckets]byte }

// SharesWithout some replicas, of all that there are.
func SharesWithout(failing Numbers, all []Replica) *Shares {
	return &Shares{sharesOf(failing.others(all))}
}

// SetFailing has flows of some replicas of a function go to others, which get these shares, and stay there. New flows
// come to those that are no longer among them.
func (p *Port) SetFailing(of string, failing Numbers, others *Shares) error {
	return p.shared(of).setFailing(failing, others)
}

func (d dealing) setFailing(failing Numbers, others *Shares) error {
	was, err := d.fail()
	if err != nil {
		return err
	}
	// No flow is entered for a replica that others are told to keep away from.
	return errors.Join(
		d.failing.Put(d.seat, uint64(was&failing)),
		d.shares.Put(d.when(whileFailing), others.of[:]),
		d.failing.Put(d.seat, uint64(failing)))
}

func (d dealing) fail() (failing Numbers, err error) {
	err = d.failing.Lookup(d.seat, (*uint64)(&failing))
	return failing, err
}

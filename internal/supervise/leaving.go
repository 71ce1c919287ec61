package supervise

import (
	"maps"
	"time"

	"nfchain.dev/nfchain/internal/resource/steer"
)

// leaving is what replicas that are taken out are left; nil where there are none, or nobody tells.
func (s *supervisor) leaving() (*steer.Leaving, error) {
	if s.config.Leaving == nil {
		return nil, nil
	}
	return s.config.Leaving()
}

// departures are since when each of the replicas goes that are taken out, as far as somebody looked.
type departures map[string]time.Time

// over are those that are left their flows no longer. It notes which there are.
func (d departures) over(leaving *steer.Leaving) (over []string) {
	busy := map[string]int{}
	if leaving != nil {
		busy = leaving.Busy
	}
	maps.DeleteFunc(d, func(replica string, _ time.Time) bool {
		_, still := busy[replica]
		return !still
	})
	for replica := range busy {
		since, noted := d[replica]
		switch {
		case !noted:
			d[replica] = time.Now()
		case time.Since(since) >= leaving.AtMost():
			over = append(over, replica)
		}
	}
	return over
}

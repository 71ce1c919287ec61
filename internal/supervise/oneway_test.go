package supervise_test

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
)

// TestOneWayIsWatched: a function that is not visited on the way back is probed on the way there alone, is led past
// when it fails, and what goes back goes on as it went; when it is visited both ways, it is probed both ways.
func TestOneWayIsWatched(t *testing.T) {
	t.Parallel()
	const oneWay = "symmetric: false\n"
	eastward := func(h process.Health) bool {
		return h.State == process.Healthy && slices.Equal(h.Proven, []string{"eastward"})
	}
	p := newPath(t, oneWay+spec(first, bump, strings.Replace(last, "forward}", "forward, symmetric: true, onFailure: bypass}", 1)))
	p.well("last")
	p.until("a", "well on its one way", eastward)
	p.until("bump", "well on its one way", eastward)
	back := func(port string) uint32 { return p.instead(port) }
	p.sh("a", nstest.Drops)
	p.until("a", "failed", hasFailed)
	p.sends("client", "bump")
	p.crosses()
	if to := back(p.watched("last").West); to != 0 {
		t.Errorf("what goes back from last goes to port %d", to)
	}
	p.sh("a", nstest.Mends)
	p.until("a", "well on its one way", eastward)
	p.sends("client", "")
	p.sh("bump", "ip link del eth1") // by which nothing is sent into it
	p.until("bump", "failed", hasFailed)
	p.sends("a", "last")
	p.crosses()
	p.up(oneWay + spec(first, bump, strings.Replace(last, "forward}", "forward, symmetric: true, onFailure: bypass}", 1)))
	p.until("bump", "well on its one way", eastward)
	p.sends("a", "")
	p.sh("last", nstest.Drops)
	p.until("last", "failed", hasFailed)
	p.sends("bump", "server")
	p.crosses()
	p.sh("last", nstest.Mends)
	p.well("last")
	p.up(spec(first, bump, last))
	p.well("a", "bump")
	p.crosses()
	p.up(oneWay + spec(first, bump, last))
	p.until("a", "well on its one way", eastward)
	p.crosses()
}

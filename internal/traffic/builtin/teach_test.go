package builtin

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// TestTeach has a router see a frame of each flow from both ends, which the ends answer with
// no error, and no trial after it counts.
func TestTeach(t *testing.T) {
	for flows, want := range map[int]int{1: leastTaught, 40: 40} {
		r := newRouted(t, trial.Condition{OfferedPps: 100, Flows: flows, Frames: trial.Frames{FrameSize: 128}})
		there := listen(t, r)
		must(t, Tool{}.Teach(context.Background(), r.Job))
		frames := there()
		if _, _, ports := distinct(t, frames); len(frames) != want || ports != flows {
			t.Errorf("%d frames of %d flows, want %d of %d", len(frames), ports, want, flows)
		}
		if n := received(t, r.ClientNetns); n < uint64(want) {
			t.Errorf("%d frames reached the client, want %d", n, want)
		}
		if n := errorsSent(t, r.ServerNetns) + errorsSent(t, r.ClientNetns); n != 0 {
			t.Errorf("the ends answered %d frames with errors", n)
		}
		if o := raw(t, r.run(t)); o.Sent+o.Unsent != 100 || o.Received > o.Sent {
			t.Errorf("the trial counts %d of %d frames", o.Received, o.Sent)
		}
	}
}

// TestNowhere tells of loads for which there is no way, or no addresses.
func TestNowhere(t *testing.T) {
	r := newRouted(t, trial.Condition{OfferedPps: 100})
	many := r.Job
	many.Condition.Flows, many.Condition.FlowsBy = maxSources+1, trial.FlowsByBoth
	r.Address = netip.MustParseAddr("203.0.113.9")
	for want, job := range map[string]traffic.Job{"no interface": r.Job, "65536 addresses of IPv4": many} {
		if err := (Tool{}).Teach(context.Background(), job); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("taught: %v, want %q", err, want)
		}
		if _, err := (Tool{}).Run(context.Background(), job); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("measured: %v, want %q", err, want)
		}
	}
}

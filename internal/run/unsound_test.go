package run_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/builtin"
	"nfchain.dev/nfchain/internal/trial"
)

// heard is the built-in generator, and tells when its load begins.
type heard struct {
	builtin.Tool
	once  sync.Once
	begun chan struct{}
}

func (h *heard) Run(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
	begins := job.Begins
	job.Begins = func() {
		if begins != nil {
			begins()
		}
		h.once.Do(func() { close(h.begun) })
	}
	return h.Tool.Run(ctx, job)
}

// removed is how a function loses an interface, which itself nobody makes again but who watches.
const removed, itself = "ip link del eth0", "true"

// TestUnsoundUnderLoad: what becomes of the packets of a load while functions answer slowly, with something else, or not at all, though their
// programs run. What a function does to them until that is found out is all that is lost, and of one that only delays nothing is.
func TestUnsoundUnderLoad(t *testing.T) {
	nstest.Require(t, feature.BPFXDP, feature.BPFPeer, feature.NFTables, feature.ToolNFT, feature.QdiscTBF, feature.ToolTC)
	one, several := []string{"bad"}, []string{"bad-1", "bad-2"}
	for name, c := range map[string]struct {
		more       string // that is said of the function
		harmed     []string
		harm, mend string
		during     time.Duration
		garbles    bool
		loses      bool
	}{
		"slowed":                {"onFailure: bypass", one, nstest.Slows, nstest.Hastens, 4 * time.Second, false, false},
		"a replica slowed":      {"onFailure: replica, replicas: 2", several[1:], nstest.Slows, nstest.Hastens, 4 * time.Second, false, false},
		"garbled":               {"onFailure: bypass", one, nstest.Garbles, nstest.Mends, 20 * time.Second, true, true}, // 1,000 probes are waited for
		"a replica garbled":     {"onFailure: replica, replicas: 2", several[:1], nstest.Garbles, nstest.Mends, 20 * time.Second, true, true},
		"its interface removed": {"onFailure: bypass", one, removed, itself, 4 * time.Second, false, true},
		"a replica's removed":   {"onFailure: replica, replicas: 2", several[1:], removed, itself, 4 * time.Second, false, true},
		"all replicas cut off":  {"onFailure: bypass, replicas: 2", several, nstest.Drops, nstest.Mends, 4 * time.Second, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := "wiring: ebpf\nfunctions: [{name: bad, kind: forward, " + c.more + "}, {name: last, kind: forward}]\n"
			for range 5 { // on a busy machine a load may be over before all is well again, or wait where the harm is
				if meets(t, spec, c.harmed, c.harm, c.mend, c.during, c.garbles, c.loses) {
					return
				}
				c.during *= 2
			}
			t.Error("no load met the harm and lasted until all was well again")
		})
	}
}

// meets harm in the midst of a load, and tells whether it lasted until what was harmed was mended and well again, and met the harm. What was lost or
// damaged is counted.
func meets(t *testing.T, spec string, nodes []string, harm, mend string, during time.Duration, garbles, loses bool) (met bool) {
	t.Helper()
	b := newBed(t, spec)
	b.up(run.UpOptions{Wait: true})
	dropped := nstest.Dropped(t)
	l := load(1, trial.UDP)
	*l.Direct, l.Duration, l.FrameSize, l.Rate, l.Flows = false, api.Duration(during), 64, api.LoadRate{Frames: harmedRate}, 20
	with := &heard{begun: make(chan struct{})}
	m, r := b.measurement(l, with)
	m.Keep = true // who waits for it to be well again may do so for longer than the load lasts
	over := make(chan error, 1)
	go func() { over <- m.Run(t.Context(), r) }()
	select {
	case <-with.begun:
	case err := <-over:
		t.Fatalf("it is over before the load begins: %v", err)
	}
	time.Sleep(during / 8)
	each := func(line string) {
		for _, n := range nodes {
			b.shell(nstest.Open(t, namespace.Name(b.name(), n)), line)
		}
	}
	all := func(what string, is func(process.Health) bool) {
		b.until(what, func() bool {
			_, functions, err := process.OnWatch(b.name())
			return err == nil && !slices.ContainsFunc(nodes, func(n string) bool {
				return !slices.ContainsFunc(functions, func(h process.Health) bool { return h.Node == n && is(h) })
			})
		})
	}
	all("they are well", func(h process.Health) bool { return h.State == process.Healthy && len(h.Proven) == 2 })
	before := map[string]int{} // on a busy machine one may have been thought to fail
	all("it is known how often they failed", func(h process.Health) bool { before[h.Node] = int(h.Failures); return true })
	began := time.Now()
	each(harm)
	all("they have failed", func(h process.Health) bool { return int(h.Failures) > before[h.Node] }) // and may be well again by then
	found := time.Since(began)
	time.Sleep(during / 8) // in which packets go past them
	each(mend)
	all("they are well again", func(h process.Health) bool { return h.State == process.Healthy })
	select {
	case err := <-over:
		if err != nil {
			t.Fatal(err)
		}
		return false
	case <-time.After(during / 8): // in which packets go through them
	}
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	tr := b.stored(r.ID).Trials[0]
	var n struct {
		Sent       uint64 `json:"sent_packets"`
		Received   uint64 `json:"received_packets"`
		Strangers  uint64 `json:"stranger_packets"`
		Duplicates uint64 `json:"duplicate_packets"`
		Reordered  uint64 `json:"reordered_packets"`
	}
	if err := json.Unmarshal(tr.Raw[0].Output, &n); err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v, found after %v", n, found)
	most := float64(nstest.Dropped(t) - dropped)
	if loses {
		most += harmedRate * (found.Seconds() + tr.Metrics["schedule_error_max_ns"]/1e9)
	}
	lost := n.Sent - n.Received
	// One that is found in milliseconds is over before the next packet where a busy machine has its generator wait for a core meanwhile.
	unmet := loses && lost == 0
	if n.Received > n.Sent || float64(lost) > most || unmet && harm != removed || garbles && n.Strangers < lost/2 || n.Duplicates > 0 {
		t.Errorf("%d are lost, %v at most: %+v %v %q", lost, most, n, tr.Metrics, tr.Warnings)
	}
	return !unmet || harm != removed
}

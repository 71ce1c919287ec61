package run_test

import (
	"os/exec"
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/run"
)

// TestRemade: namespaces that somebody removes, of a watched function and of the forwarder itself, are made again with all that was in them, without
// an `up`.
func TestRemade(t *testing.T) {
	t.Parallel()
	b := newBed(t, "wiring: ebpf\nfunctions: [{name: a, kind: forward, onFailure: bypass}, {name: last, kind: forward}]\n")
	b.up(run.UpOptions{Wait: true})
	p, err := b.host.Made(b.name())
	if err != nil {
		t.Fatal(err)
	}
	server, failures := p.Nodes[len(p.Nodes)-1].West.Addresses[0].String(), 0
	well := func() bool {
		_, functions, err := process.OnWatch(b.name())
		return err == nil && slices.ContainsFunc(functions, func(h process.Health) bool {
			return h.State == process.Healthy && len(h.Proven) == 2 && h.Failures == failures
		})
	}
	b.until("it is well", well)
	for _, gone := range []string{namespace.Name(b.name(), "a"), p.Between()} {
		if err := netns.Remove(gone); err != nil {
			t.Fatal(err)
		}
		failures++
		b.until(gone+" is back, and all is well", func() bool {
			_ = exec.Command("ip", "netns", "exec", namespace.Name(b.name(), "client"), "ping", "-c", "1", "-W", "1", server).Run() // at rest that is looked at once in five minutes
			return well()
		})
		if state, err := run.Inspect(t.Context(), p); err != nil || state.State != run.StateUp {
			t.Errorf("%s: %+v, error %v", gone, state, err)
		}
		b.shell(nstest.Open(t, namespace.Name(b.name(), "client")), "ping -c 1 -w 20 "+server)
	}
}

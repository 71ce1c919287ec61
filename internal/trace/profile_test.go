package trace_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
)

// TestProfileFindsWhereForwardingIs: while packets pass, cores are found in the kernel's
// forwarding at the hop that forwards, and nowhere else.
func TestProfileFindsWhereForwardingIs(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	ctx, stop := context.WithCancel(t.Context())
	flooded := make(chan struct{})
	go func() {
		defer close(flooded)
		for ctx.Err() == nil {
			o := sending(20000)
			o.Patience = time.Millisecond
			_, _ = trace.Run(ctx, run.Traced(b.plan), o)
		}
	}()
	defer func() { stop(); <-flooded }()
	found := map[string]bool{}
	for deadline := time.Now().Add(60 * time.Second); !found["f0"] && time.Now().Before(deadline); {
		p, err := trace.Sample(t.Context(), run.Traced(b.plan), 500*time.Millisecond, 2000)
		if err != nil {
			t.Fatal(err)
		}
		if p.Samples == 0 || p.Lost > p.Samples {
			t.Fatalf("%d samples, %d lost", p.Samples, p.Lost)
		}
		for _, s := range p.Stacks {
			if slices.ContainsFunc(s.Frames, func(f string) bool { return strings.HasPrefix(f, "ip_forward") }) && s.Hop != "" {
				found[s.Hop] = true
			}
		}
	}
	if !found["f0"] || found["server"] {
		t.Errorf("forwarding was found at %v", found)
	}
}

// TestProfileRefusesWhatTheKernelDoes.
func TestProfileRefusesWhatTheKernelDoes(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	if _, err := trace.Sample(t.Context(), run.Traced(b.plan), time.Millisecond, 1<<30); err == nil || !strings.Contains(err.Error(), "clock") {
		t.Errorf("a frequency of 2^30: %v", err)
	}
}

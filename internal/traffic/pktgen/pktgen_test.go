package pktgen_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic/pktgen"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
	"nfchain.dev/nfchain/internal/trial"
)

// TestRun has the kernel send, where it can.
func TestRun(t *testing.T) {
	nstest.Require(t, feature.Root, feature.Pktgen)
	for name, c := range map[string]struct {
		frames  trial.Frames
		flows   int
		pps     float64
		payload float64
	}{
		"smallest":    {payload: 64 - 46},
		"size, rate":  {frames: trial.Frames{FrameSize: 1000}, pps: 1000, payload: 1000 - 46},
		"VLAN, flows": {frames: trial.Frames{VLAN: 7}, flows: 100, pps: 2000, payload: 66 - 50},
		"IPv6":        {frames: trial.Frames{IPVersion: 6, FrameSize: 100}, pps: 1000, payload: 100 - 66},
	} {
		t.Run(name, func(t *testing.T) {
			j := traffictest.Job(t, trial.Condition{Protocol: trial.UDP, Frames: c.frames, Flows: c.flows, OfferedPps: c.pps})
			if c.frames.IPVersion == 6 {
				traffictest.IPv6(t, &j)
			}
			s, err := pktgen.Tool{}.Run(context.Background(), j)
			if err != nil {
				t.Fatal(err)
			}
			m := s.Metrics
			if m["forwarding_rate_pps"] < 100 || m["loss_ratio"] < 0 || m["loss_ratio"] > 0.5 || len(s.Raw) != 1 {
				t.Errorf("metrics %v", m)
			}
			if payload := m["goodput_bps"] / m["forwarding_rate_pps"] / 8; math.Abs(payload-c.payload) > 0.01 {
				t.Errorf("a payload of %v bytes, not %v", payload, c.payload)
			}
			if c.pps > 0 && m["sent_pps"] > c.pps*1.1 {
				t.Errorf("%v frames/s were sent, not %v", m["sent_pps"], c.pps)
			}
			traffictest.Empty(t, j)
		})
	}
}

func TestCeiling(t *testing.T) {
	nstest.Require(t, feature.Root, feature.Pktgen)
	pps, err := pktgen.Tool{}.Ceiling(context.Background(), trial.Condition{Frames: trial.Frames{FrameSize: 64}, OfferedPps: 10, Flows: 1})
	if err != nil || pps < 100 {
		t.Errorf("%v frames/s, %v", pps, err)
	}
}

// TestNoBursts shows what devices say that cannot send copies.
func TestNoBursts(t *testing.T) {
	nstest.Require(t, feature.Root, feature.Pktgen)
	j := traffictest.Job(t, trial.Condition{Frames: trial.Frames{Burst: 8}})
	if _, err := (pktgen.Tool{}).Run(context.Background(), j); err == nil || !strings.Contains(err.Error(), `refuses "burst 8" for veth0`) {
		t.Errorf("error %v", err)
	}
}

func TestInterrupted(t *testing.T) {
	nstest.Require(t, feature.Root, feature.Pktgen)
	traffictest.Interrupted(t, pktgen.Tool{}, traffictest.Job(t, trial.Condition{DurationS: 60}), 1)
}

func TestRefuses(t *testing.T) {
	for _, c := range []trial.Condition{
		{Frames: trial.Frames{IMIX: "aag"}}, {Frames: trial.Frames{Bidirectional: true}}, {Frames: trial.Frames{Pattern: "poisson"}}, {PayloadSize: 10},
		{Frames: trial.Frames{FrameSize: 64, VLAN: 7}}, {OfferedPps: 0.5}, {Flows: 65000},
	} {
		if _, err := (pktgen.Tool{}).Run(context.Background(), traffictest.Job(t, c)); err == nil || !strings.Contains(err.Error(), "use builtin") {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}

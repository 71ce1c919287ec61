package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/builtin"
	"nfchain.dev/nfchain/internal/traffic/iperf3"
	"nfchain.dev/nfchain/internal/traffic/ping"
	"nfchain.dev/nfchain/internal/traffic/sockperf"
	"nfchain.dev/nfchain/internal/trial"
)

// TestTranslatedIsMeasured has every kind of tool measure over a chain that gives
// connections other addresses, and one that gives them another port.
func TestTranslatedIsMeasured(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.NFTNAT)
	const all, web = "nat: {source: {masquerade: true}, destination: {}}", "nat: {source: {}, destination: {protocol: tcp, port: 80, to_port: 8080}}"
	for _, c := range []struct {
		nat      string
		tool     traffic.Tool
		protocol string
		metric   string
	}{
		{all, iperf3.Tool{}, trial.TCP, "goodput_bps"}, {all, iperf3.Tool{}, trial.UDP, "goodput_bps"},
		{all, sockperf.Tool{}, trial.Latency, "latency_p50_ns"}, {all, ping.Tool{}, trial.Latency, "latency_p50_ns"},
		{all, builtin.Tool{}, trial.UDP, "forwarding_rate_pps"},
		{web, iperf3.Tool{}, trial.TCP, "goodput_bps"},
	} {
		t.Run(c.tool.Name()+" "+c.protocol, func(t *testing.T) {
			nstest.Require(t, c.tool.Requires()...)
			b := newBed(t, "functions:\n- {name: nat, kind: nat, "+c.nat+"}\n- {name: f, kind: forward}\n")
			l, direct := load(1, c.protocol), false
			l.Direct = &direct
			m, r := b.measurement(l, c.tool)
			if c.protocol == trial.UDP {
				r.Conditions[0].OfferedPps, r.Conditions[0].PayloadSize = 1000, 100
				if c.tool.Name() == "iperf3" {
					r.Conditions[0].OfferedPps, r.Conditions[0].OfferedBps = 0, 1e6
				}
			}
			if err := m.Run(context.Background(), r); err != nil {
				t.Fatal(err)
			}
			if got := b.stored(r.ID).Trials[0].Metrics; got[c.metric] <= 0 {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestEchoOfAFunctionIsNotMeasured though it answers: only a port is translated.
func TestEchoOfAFunctionIsNotMeasured(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.NFTNAT, feature.ToolPing)
	b := newBed(t, "functions:\n- {name: nat, kind: nat, nat: {destination: {protocol: udp, port: 80}}}\n")
	l, direct := load(1, trial.Latency), false
	l.Direct = &direct
	m, r := b.measurement(l, ping.Tool{})
	if err := m.Run(context.Background(), r); !errors.Is(err, run.ErrInput) || !strings.Contains(err.Error(), "its packets have no ports") {
		t.Error(err)
	}
}

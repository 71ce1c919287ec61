package run_test

import (
	"errors"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// TestFramesThatDoNotFitAreRefused before anything is made, whatever says how long they are.
func TestFramesThatDoNotFitAreRefused(t *testing.T) {
	tools := append([]traffic.Tool{framer{named{"frames", nil, []string{trial.UDP}}}}, registry.Tools...)
	for _, c := range []struct {
		tool    string
		change  func(*trial.Condition)
		mtu     int
		ipv4    string
		refused string
	}{
		{"builtin", func(c *trial.Condition) { c.IMIX = "aag" }, 1500, "", ""},
		{"builtin", func(c *trial.Condition) { c.IMIX = "aahg" }, 1500, "", "a frame of 2112 bytes does not fit through an MTU of 1500, which takes 1518"},
		{"builtin", func(c *trial.Condition) { c.IMIX = "a{1522}"; c.VLAN = 7 }, 1500, "", ""},
		{"builtin", func(c *trial.Condition) { c.IMIX = "az" }, 1500, "", "\"z\" is no frame size"},
		{"frames", func(c *trial.Condition) { c.IMIX = "aa" }, 1500, "", "frames sends frames of one size; leave imix out"},
		{"builtin", func(c *trial.Condition) { c.FrameSize = 9018 }, 9000, "", ""},
		{"builtin", func(c *trial.Condition) { c.FrameSize = 9019 }, 9000, "", "which takes 9018"},
		{"builtin", func(c *trial.Condition) { c.PayloadSize = 1472 }, 1500, "", ""},
		{"builtin", func(c *trial.Condition) { c.PayloadSize = 1473 }, 1500, "", "a frame of 1519 bytes"},
		{"builtin", func(c *trial.Condition) { c.PayloadSize = 1472 }, 1500, api.None, "a frame of 1538 bytes"},
		{"builtin", func(c *trial.Condition) { c.PayloadSize = 1472; c.IPVersion = 6 }, 1500, "", "a frame of 1538 bytes"},
		{"iperf3", func(c *trial.Condition) { c.PayloadSize = 60_000 }, 1500, "", ""},
	} {
		condition := trial.Condition{Tool: c.tool, Protocol: trial.UDP, Flows: 1}
		c.change(&condition)
		chain := api.Chain{Spec: api.DefaultChainSpec()}
		chain.Spec.MTU = c.mtu
		if c.ipv4 != "" {
			chain.Spec.Addresses.IPv4 = c.ipv4
		}
		err := newHost().Offers(chain, []trial.Condition{condition}, tools)
		if c.refused == "" && err != nil || c.refused != "" && (!errors.Is(err, run.ErrInput) || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%+v: %v, want %q", condition, err, c.refused)
		}
	}
}

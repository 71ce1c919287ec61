package report

import (
	"testing"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		metric string
		value  float64
		want   string
	}{
		{"goodput_bps", 9.7213e9, "9.721 Gb/s"}, {"goodput_bps", 999, "999.0 b/s"}, {"goodput_bps", 0, "0 b/s"}, {"goodput_bps", 2.5e13, "25.00 Tb/s"},
		{"latency_p99_ns", 40420, "40.42 µs"}, {"latency_p99_ns", 2.42e6, "2.420 ms"}, {"loss_ratio", .0779, "7.790 %"},
		{"loss_ratio", 1.2e-5, "0.0012 %"}, {"loss_ratio", 1e-7, "0.000010 %"}, {"loss_ratio", 0, "0 %"}, {"throughput_pps", 1.488e6, "1.488 Mp/s"}, {"retransmits", 12, "12"}, {"path_mtu_bytes", 1500, "1500 B"}, {"memory_bytes", 1 << 31, "2.000 GiB"},
	} {
		if got := printed(c.metric, c.value); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.metric, c.value, got, c.want)
		}
	}
	for _, c := range []struct {
		factor, value float64
		ci            [2]float64
		want          string
	}{{1e9, 9.7213e9, [2]float64{9.5994e9, 9.8431e9}, "9.72 [9.60, 9.84]"}, {.01, 0, [2]float64{0, 1e-6}, "0.00000 [0.00000, 0.00010]"}, {1, 2, [2]float64{2, 2}, "2 [2, 2]"}} {
		if value, interval := (unit{Factor: c.factor}).centred(c.value, &c.ci); value+" "+interval != c.want {
			t.Errorf("%v %v: %s %s, want %s", c.value, c.ci, value, interval, c.want)
		}
	}
}

// TestShares are told without exponents, and none that is less than all as all.
func TestShares(t *testing.T) {
	for share, want := range map[float64]string{
		.02: "2%", .1234: "12.3%", 1: "100%", .9999: "99.99%", 1 - .05/150: "99.97%", 1e-7: "0.00001%", 12.5: "1250%", 0: "0%", -.003: "-0.3%",
	} {
		if got := shareText(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
	if got := percentText(1.23e-7); got != "0.000012%" {
		t.Error(got)
	}
}

func TestMetricWords(t *testing.T) {
	for metric, want := range map[string]string{"latency_p999_ns": "latency p99.9", "goodput_bps": "goodput", "retransmits": "retransmits",
		"latency_p50_ns": "latency p50", "loss_ratio": "loss", "tcp_rtt_mean_ns": "tcp rtt mean"} {
		if got := words.Metric(metric); got != want {
			t.Errorf("%s: %q, want %q", metric, got, want)
		}
	}
	for metric, want := range map[string]direction{"goodput_bps": higherIsBetter, "loss_ratio": lowerIsBetter,
		"latency_p99_ns": lowerIsBetter, "jitter_ns": lowerIsBetter, "retransmits": lowerIsBetter, "mss_bytes": unknownDirection} {
		if got := goodDirection(metric); got != want {
			t.Errorf("%s: %v, want %v", metric, got, want)
		}
	}
}

func TestLabelsSayWhatSetsApart(t *testing.T) {
	r := sampleExperiment()
	if got := labels(r.Conditions).of(r.Conditions[6].Condition); got != "TCP, zerocopy, length 3" {
		t.Error(got)
	}
	one := []trial.Summary{{Condition: trial.Condition{Path: trial.PathChain, Protocol: trial.UDP, Flows: 4}}}
	if got := labels(one).of(one[0].Condition); got != "UDP" {
		t.Error(got)
	}
}

func TestMarkdownEscapes(t *testing.T) {
	if got := escapeMarkdown("a|b_<c>\n*"); got != `a\|b\_&lt;c&gt; \*` {
		t.Error(got)
	}
	if got := fenced("sh", "a```b"); got != "````sh\na```b\n````\n" {
		t.Error(got)
	}
}

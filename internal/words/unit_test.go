package words_test

import (
	"testing"

	"nfchain.dev/nfchain/internal/words"
)

func TestAmounts(t *testing.T) {
	for want, got := range map[string]string{
		"12.35 Gb/s": words.Amount("goodput_bps", 12.345e9), "0 b/s": words.Amount("goodput_bps", 0), "200 µs": words.Amount("latency_p99_ns", 2e5),
		"0.1%": words.Amount("loss_ratio", .001), "1.5 Mp/s": words.Amount("throughput_pps", 1.5e6), "3 s": words.Amount("latency_max_ns", 3e9),
		"999 ns": words.Amount("latency_p50_ns", 999), "1500 B": words.Amount("mtu_bytes", 1500), "0.00001235": words.Amount("fragments", 1.23456e-5),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestMetricsInWords(t *testing.T) {
	for metric, want := range map[string]string{
		"latency_p999_ns": "latency p99.9", "one_way_latency_max_ns": "one way latency max", "fragments_created": "fragments created",
	} {
		if got := words.Metric(metric); got != want {
			t.Errorf("%s: %s, want %s", metric, got, want)
		}
	}
}

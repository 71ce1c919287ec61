package ping

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/traffic"
)

// replies to the requests from one number on, 2 ms apart, each after a millisecond.
func replies(b *strings.Builder, from, to int) {
	for n := from; n < to; n++ {
		us := 1_000_000_000_000_000 + int64(n)*2000 + 1000
		fmt.Fprintf(b, "[%d.%06d] 64 bytes from 198.18.0.1: icmp_seq=%d ttl=60 time=1.00 ms\n", us/1e6, us%1e6, n%sequences)
	}
}

// TestOutage is the time that requests without a reply in between take; at the end it is not known.
func TestOutage(t *testing.T) {
	for name, c := range map[string]struct {
		answered [][2]int
		count    int
		want     time.Duration
		open     bool
	}{
		"none":           {[][2]int{{1, 101}}, 100, 0, false},
		"between":        {[][2]int{{1, 30}, {40, 101}}, 100, 20 * time.Millisecond, false},
		"two":            {[][2]int{{1, 30}, {31, 40}, {70, 101}}, 100, 60 * time.Millisecond, false},
		"at the end":     {[][2]int{{1, 30}, {31, 90}}, 100, 0, true},
		"the last alone": {[][2]int{{1, 30}, {40, 100}}, 100, 20 * time.Millisecond, false},
		"begun anew":     {[][2]int{{1, 65530}, {65540, 200001}}, 200000, 20 * time.Millisecond, false},
	} {
		var text strings.Builder
		for _, span := range c.answered {
			replies(&text, span[0], span[1])
		}
		s := traffic.Sample{Metrics: map[string]float64{}}
		outage(&s, []byte("PING x\n"+text.String()), c.count, 2*time.Millisecond)
		got, told := s.Metrics[traffic.OutageMetric]
		if told == c.open || (len(s.Warnings) > 0) != c.open || time.Duration(got) != c.want {
			t.Errorf("%s: %v, told %t, want %v; %q", name, time.Duration(got), told, c.want, s.Warnings)
		}
	}
}

// TestOutageReplies: what ping prints of a request that is no reply to it ends no outage, and a late reply from before the numbers began
// anew is none of those after.
func TestOutageReplies(t *testing.T) {
	for name, c := range map[string]struct {
		before, after [2]int
		lines         string
		count         int
		want          time.Duration
		open          bool
	}{
		"an error":        {before: [2]int{1, 30}, lines: "[1000000000.069000] From 198.18.0.9 icmp_seq=34 Destination Net Unreachable\n", after: [2]int{40, 101}, count: 100, want: 20 * time.Millisecond},
		"a second copy":   {before: [2]int{1, 30}, lines: "[1000000000.069000] 64 bytes from 198.18.0.1: icmp_seq=29 ttl=60 time=11.0 ms (DUP!)\n", after: [2]int{40, 101}, count: 100, want: 20 * time.Millisecond},
		"errors to come":  {before: [2]int{1, 90}, lines: "[1000000000.201000] From 198.18.0.9 icmp_seq=100 Destination Net Unreachable\n", count: 100, open: true},
		"late":            {before: [2]int{1, 65540}, lines: "[1000000131.080000] 64 bytes from 198.18.0.1: icmp_seq=65530 ttl=60 time=20.0 ms\n", after: [2]int{65540, 65551}, count: 65600, open: true},
		"longer than due": {before: [2]int{1, 70000}, after: [2]int{110000, 120001}, count: 120000, want: 40000 * 2 * time.Millisecond},
	} {
		var text strings.Builder
		replies(&text, c.before[0], c.before[1])
		text.WriteString(c.lines)
		replies(&text, c.after[0], c.after[1])
		s := traffic.Sample{Metrics: map[string]float64{}}
		outage(&s, []byte(text.String()), c.count, 2*time.Millisecond)
		got, told := s.Metrics[traffic.OutageMetric]
		if told == c.open || !c.open && time.Duration(got) != c.want {
			t.Errorf("%s: %v, told %t, want %v; %q", name, time.Duration(got), told, c.want, s.Warnings)
		}
	}
}

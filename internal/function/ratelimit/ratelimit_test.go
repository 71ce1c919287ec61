package ratelimit

import (
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

func TestRefuses(t *testing.T) {
	for path, change := range map[string]func(*Options){
		"":            func(*Options) {},
		"rate":        func(o *Options) { o.Rate = 7999 },
		"burst":       func(o *Options) { o.Burst = 1 << 32 },
		"per":         func(o *Options) { o.Per = "user" },
		"ipv4_prefix": func(o *Options) { o.IPv4Prefix = 33 },
		"ipv6_prefix": func(o *Options) { o.IPv6Prefix = 129 },
		"flows":       func(o *Options) { o.Flows = 4095 },
	} {
		o := (Kind{}).Options().(*Options)
		o.Rate = 1e9
		change(o)
		wrong := o.Validate()
		if path == "" && len(wrong) > 0 || path != "" && (len(wrong) != 1 || wrong[0].Path != path) {
			t.Errorf("%q: %v", path, wrong)
		}
	}
}

// TestBurst is 1 ms at the rate, and two segments at least, unless it is given.
func TestBurst(t *testing.T) {
	for _, c := range []struct{ rate, given, want uint64 }{{1e6, 0, 128 << 10}, {10e9, 0, 1_250_000}, {10e9, 1, 1}} {
		o := (Kind{}).Options().(*Options)
		o.Rate, o.Burst = api.Rate(c.rate), api.Size(c.given)
		if got := o.bucket().Burst; got != c.want {
			t.Errorf("%+v: a burst of %d", c, got)
		}
	}
}

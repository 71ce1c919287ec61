package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTCPOfTheRFC has the numbers that RFC 6349 itself works out (§4.1 to §4.3).
func TestTCPOfTheRFC(t *testing.T) {
	fast := LineFrames(100e6, 1500)
	for name, c := range map[string]struct{ got, want, within float64 }{
		"frames of Fast Ethernet": {fast, 8127, 1},
		"TCP over Fast Ethernet":  {AchievableTCP(fast, 1500, TCPHeadersIPv4), 94.9e6, 0.1e6},
		"TCP over a T3":           {AchievableTCP(3667, 1500, TCPHeadersIPv4), 42.8e6, 0.1e6},
		"efficiency":              {TCPEfficiency(102_000, 2_000), 0.9803, 0.0001},
		"buffer delay":            {BufferDelay(32, 25), 0.28, 1e-9},
		"product":                 {BandwidthDelayProduct(500e6, 0.005), 312_500, 1e-9},
	} {
		if math.Abs(c.got-c.want) > c.within {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}

// TestTCPProperties holds for all that can be measured.
func TestTCPProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(6349, 1))
	for range 1000 {
		bandwidth, mtu := 1e3+r.Float64()*1e11, 576+r.IntN(9000)
		frames := LineFrames(bandwidth, mtu)
		if math.Abs(LineBandwidth(frames, mtu)/bandwidth-1) > 1e-9 {
			t.Fatalf("%v bit/s do not come back", bandwidth)
		}
		most := AchievableTCP(frames, mtu, TCPHeadersIPv4)
		if most <= AchievableTCP(frames, mtu, TCPHeadersIPv6) || most >= bandwidth {
			t.Fatalf("achievable %v of %v", most, bandwidth)
		}
		seconds, share := 1+r.Float64()*100, 0.01+0.99*r.Float64()
		if ratio := TransferTimeRatio(seconds, share*most*seconds/8, most); math.Abs(ratio*share-1) > 1e-9 {
			t.Fatalf("at %v of what is achievable the ratio is %v", share, ratio)
		}
		sent := 1 + r.Float64()*1e12
		if e := TCPEfficiency(sent, share*sent); e < 0 || e > 1 || math.Abs(e+share-1) > 1e-9 {
			t.Fatalf("efficiency %v with %v sent again", e, share)
		}
		if d := BufferDelay(seconds*(1+share), seconds); math.Abs(d-share) > 1e-9 {
			t.Fatalf("buffer delay %v, want %v", d, share)
		}
	}
}

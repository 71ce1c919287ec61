package ping_test

import (
	"testing"

	"nfchain.dev/nfchain/internal/traffic/ping"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
)

func TestPing(t *testing.T) {
	traffictest.Echo{Pacer: ping.Tool{}, Reply: "64 bytes from x: icmp_seq=1 ttl=1 time=1 ms", Unreachable: "unreachable", Smallest: true}.Test(t)
}

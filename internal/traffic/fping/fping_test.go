package fping_test

import (
	"testing"

	"nfchain.dev/nfchain/internal/traffic/fping"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
)

func TestFping(t *testing.T) {
	traffictest.Echo{Pacer: fping.Tool{}, Reply: "x : [0], 64 bytes, 1 ms", Unreachable: "100%"}.Test(t)
}

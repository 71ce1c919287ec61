package rr_test

import (
	"os"
	"testing"

	"nfchain.dev/nfchain/internal/traffic/rr"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
)

// TestMain makes this test program both sides of its trials, as nfchain is.
func TestMain(m *testing.M) { os.Exit(traffictest.Main(m, rr.Command, rr.Main)) }

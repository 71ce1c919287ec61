package rfc6349_test

import (
	"os"
	"testing"

	"nfchain.dev/nfchain/internal/traffic/rfc6349"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
)

// TestMain makes this test program both sides of its trials, as nfchain is.
func TestMain(m *testing.M) { os.Exit(traffictest.Main(m, rfc6349.Command, rfc6349.Main)) }

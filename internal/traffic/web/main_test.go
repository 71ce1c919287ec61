package web_test

import (
	"os"
	"testing"

	"nfchain.dev/nfchain/internal/traffic/traffictest"
	"nfchain.dev/nfchain/internal/traffic/web"
)

// TestMain makes this test program both sides of its trials, as nfchain is.
func TestMain(m *testing.M) { os.Exit(traffictest.Main(m, web.Command, web.Main)) }

package link_test

import (
	"os"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

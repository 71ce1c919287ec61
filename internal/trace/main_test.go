package trace_test

import (
	"os"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		child(name)
	}
	os.Exit(nstest.Main(m))
}

package profile_test

import (
	"os"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
)

func TestMain(m *testing.M) {
	if how := os.Getenv(childEnv); how != "" {
		child(how)
	}
	os.Exit(nstest.Main(m))
}

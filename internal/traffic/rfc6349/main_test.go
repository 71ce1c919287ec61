package rfc6349_test

import (
	"fmt"
	"os"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic/rfc6349"
)

// TestMain makes this test program both sides of its trials, as nfchain is.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == rfc6349.Command {
		if err := rfc6349.Main(os.Args[2:], os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(nstest.Main(m))
}

package nstest

import (
	"os"
	"testing"
)

// Images are those of images/, of the engine that DOCKER_HOST names, for tests of chains that have them: some take minutes to build.
// scripts/test-images builds them; a test that nobody built any for is skipped.
func Images(tb testing.TB) {
	tb.Helper()
	if os.Getenv("NFCHAIN_TEST_IMAGES") == "" {
		tb.Skip("images/ is not built for this test; make test-images builds it and runs this")
	}
}

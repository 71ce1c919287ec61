package nstest

import (
	"os"
	"testing"
)

// Versions are two binaries of nfchain, of an earlier version and of this one, for tests that have
// them take turns. scripts/test-versions builds them; a test that nobody gave any is skipped.
func Versions(tb testing.TB) (earlier, this string) {
	tb.Helper()
	earlier, this = os.Getenv("NFCHAIN_EARLIER"), os.Getenv("NFCHAIN_THIS")
	if earlier == "" || this == "" {
		tb.Skip("there is no other version here; make test-versions builds one and runs this")
	}
	return earlier, this
}

package watch

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/nstest"
)

// firstEnds is in the environment of a process of this program that is to go on without its first thread.
const firstEnds = "NFCHAIN_TEST_FIRST_ENDS"

func init() { // which the first thread runs, when there are others
	if os.Getenv(firstEnds) != "" {
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
	}
}

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

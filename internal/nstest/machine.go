package nstest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// machineMark on the kernel's command line tells that a machine was started for tests and
// nothing else, as scripts/test-vm does.
const machineMark = "nfchain.tests"

// Machine skips a test that does what all programs of a machine would have to bear, such as
// setting the clock or taking a core away, unless the machine was started for tests. One that
// was has all that they need.
func Machine(tb testing.TB) {
	tb.Helper()
	if !ownMachine("/proc/cmdline") {
		tb.Skipf("this machine was not started for tests (%s on the kernel's command line), and others on it would suffer; make test-vm runs it in one that was", machineMark)
	}
}

func ownMachine(commandLine string) bool {
	text, err := os.ReadFile(commandLine)
	return err == nil && slices.Contains(strings.Fields(string(text)), machineMark)
}

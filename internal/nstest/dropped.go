package nstest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Dropped counts the packets that this machine's cores dropped since it started, because more
// waited for them than they may keep (net.core.netdev_max_backlog). Every namespace's wait in
// the same place, so another test's flood may cost those of a test that sends few.
func Dropped(tb testing.TB) (packets uint64) {
	tb.Helper()
	text, err := os.ReadFile("/proc/net/softnet_stat")
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var taken, dropped uint64
		if _, err := fmt.Sscanf(line, "%x %x", &taken, &dropped); err != nil {
			tb.Fatalf("/proc/net/softnet_stat says %q: %v", line, err)
		}
		packets += dropped
	}
	return packets
}

// Amiss tells whether other than so many packets were seen as were sent, but for those that cores dropped since Dropped gave a number: more
// are too many always.
func Amiss[N int | uint64](tb testing.TB, seen, sent N, dropped uint64) bool {
	tb.Helper()
	return seen > sent || uint64(sent-seen) > Dropped(tb)-dropped
}

package builtin

import (
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// clock reads CLOCK_MONOTONIC as programs in the kernel do, ns: as it is outside every time
// namespace. Nothing steps it.
func clock() uint64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // cannot fail
	return uint64(t.Nano() - offset())
}

// offset of CLOCK_MONOTONIC in this program's time namespace, ns (time_namespaces(7)).
var offset = sync.OnceValue(func() int64 {
	text, _ := os.ReadFile("/proc/self/timens_offsets") // kernels without have no such namespaces
	return offsetIn(string(text))
})

func offsetIn(text string) int64 {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] != "monotonic" {
			continue
		}
		s, err := strconv.ParseInt(f[1], 10, 64)
		ns, err2 := strconv.ParseInt(f[2], 10, 64)
		if err == nil && err2 == nil {
			return s*1e9 + ns
		}
	}
	return 0
}

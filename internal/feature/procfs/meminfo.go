package procfs

import (
	"strconv"
	"strings"
)

// Meminfo is /proc/meminfo in bytes by the kernel's names; lines without a unit
// (HugePages_Total) are counts. Nil when it cannot be read.
func (r Root) Meminfo() map[string]uint64 {
	s, ok := r.Text("proc/meminfo")
	if !ok {
		return nil
	}
	return ParseMeminfo(s)
}

// ParseMeminfo reads the text of /proc/meminfo. Lines that are not understood
// are left out.
func ParseMeminfo(s string) map[string]uint64 {
	m := map[string]uint64{}
	for line := range strings.Lines(s) {
		name, rest, ok := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		if !ok || len(fields) == 0 || len(fields) > 2 {
			continue
		}
		if n, ok := memoryValue(fields); ok {
			m[strings.TrimSpace(name)] = n
		}
	}
	return m
}

// memoryValue reads "123 kB" or "123".
func memoryValue(fields []string) (uint64, bool) {
	n, err := strconv.ParseUint(fields[0], 10, 64)
	if err != nil {
		return 0, false
	}
	if len(fields) == 1 {
		return n, true
	}
	return n * 1024, fields[1] == "kB" && n <= 1<<53
}

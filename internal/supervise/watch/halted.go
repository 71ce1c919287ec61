package watch

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// exiting is set in the flags of a process that ends, before it has let go of what it holds (PF_EXITING).
const exiting = 1 << 2

// ends is what a process does that will be none any more.
const ends = "ends"

// halted says how a process is kept from doing its work; "" where it is not, or nothing is known of it.
// The file is told of in proc_pid_stat(5): the name may have any character in it but ends with the last ")".
func halted(pid int) string {
	if pid == 0 {
		return ""
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	const state, flags = 0, 6
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= flags {
		return ""
	}
	set, err := strconv.ParseUint(string(fields[flags]), 10, 64)
	switch {
	case string(fields[state]) == "T":
		return "is stopped"
	case string(fields[state]) == "Z" || err == nil && set&exiting != 0:
		return ends
	}
	return ""
}

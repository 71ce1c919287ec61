package watch

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/engine"
)

// exiting is set in the flags of a thread that ends, before it has let go of what it holds (PF_EXITING).
const exiting = 1 << 2

// ends is what a process does that will be none any more.
const ends = "ends"

// halted says how a process is kept from doing its work; "" where it is not, or nothing is known of it.
// Its file tells of its first thread, which may end before the others do.
func halted(pid int) string {
	if pid == 0 {
		return ""
	}
	first, known := haltedThread(fmt.Sprintf("/proc/%d/stat", pid))
	if known && first == "" && engine.Paused(pid) {
		return "is paused"
	}
	if !known || first != ends {
		return first
	}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, file := range threads {
		if how, known := haltedThread(file); known && how != ends {
			return how
		}
	}
	return ends
}

// haltedThread says it of a thread, whose file is told of in proc_pid_stat(5): the name may have any character in it
// but ends with the last ")". One that is killed with its process ends, though it has not noticed yet.
func haltedThread(file string) (how string, known bool) {
	stat, err := os.ReadFile(file)
	if err != nil {
		return "", false
	}
	const state, flags, pending = 0, 6, 28
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= pending {
		return "", false
	}
	set, err := strconv.ParseUint(string(fields[flags]), 10, 64)
	signals, err2 := strconv.ParseUint(string(fields[pending]), 10, 64)
	switch {
	case err == nil && set&exiting != 0 || err2 == nil && signals&(1<<(unix.SIGKILL-1)) != 0 || string(fields[state]) == "Z":
		return ends, true
	case string(fields[state]) == "T":
		return "is stopped", true
	}
	return "", true
}

package nstest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
)

// Main runs a package's tests and fails them if they leave a namespace, an
// interface, a mount, a process, a file of a chain or a file descriptor behind.
// It returns the exit code.
func Main(m *testing.M) int {
	before := descriptors()
	code := m.Run()
	left := leftovers(before)
	for _, what := range left {
		fmt.Fprintln(os.Stderr, "leaked:", what)
	}
	if len(left) > 0 && code == 0 {
		code = 1
	}
	sweep()
	return code
}

// leftovers gives what is still there a little after the tests: what ends by
// itself gets the time to.
func leftovers(before map[string]string) (left []string) {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		left = append(append(named(), children()...), opened(before)...)
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

// named finds what carries this process's tag, with what follows it in each name: another's may begin like this.
func named() []string {
	var found []string
	for _, pattern := range []string{netns.Dir + "/*" + tag + "-*", "/run/nfchain/*" + tag + "-*"} {
		files, _ := filepath.Glob(pattern)
		found = append(found, files...)
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for _, line := range strings.Split(string(mounts), "\n") {
		if strings.Contains(line, tag+"-") {
			found = append(found, "mount "+line)
		}
	}
	links, _ := netlink.LinkList()
	for _, l := range links {
		if strings.Contains(l.Attrs().Name+l.Attrs().Alias, tag+"-") {
			found = append(found, "interface "+l.Attrs().Name+" "+l.Attrs().Alias)
		}
	}
	return found
}

// children lists the processes that this one started and that have not ended.
func children() []string {
	var found []string
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, t := range tasks {
		pids, _ := os.ReadFile(t)
		for _, pid := range strings.Fields(string(pids)) {
			command, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			found = append(found, "process "+pid+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

// descriptors are the open files by number, without the runtime's own.
func descriptors() map[string]string {
	open := map[string]string{}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err != nil || strings.HasPrefix(to, "anon_inode:[event") || strings.HasPrefix(to, "/proc/") {
			continue
		}
		open[e.Name()] = to
	}
	return open
}

func opened(before map[string]string) []string {
	var found []string
	for fd, to := range descriptors() {
		if before[fd] == "" {
			found = append(found, "descriptor "+fd+" "+to)
		}
	}
	return found
}

// sweep removes leaked namespaces, so that one failure is not the next one's.
func sweep() {
	files, _ := filepath.Glob(netns.Dir + "/*" + tag + "-*")
	for _, f := range files {
		_ = netns.Remove(filepath.Base(f))
	}
}

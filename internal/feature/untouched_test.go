package feature

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/nstest/hosttest"
)

// untouchedEnv turns the test binary into the child of TestProbingChangesNothing; it says where others keep their files.
const untouchedEnv = "NFCHAIN_TEST_UNTOUCHED"

// The child has network and mount namespaces of its own, so that what others do
// on this machine meanwhile is not seen, and what probing would leave is.
func TestProbingChangesNothing(t *testing.T) {
	needNetNS(t)
	hosttest.Looks(t)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), untouchedEnv+"="+os.TempDir(), "TMPDIR="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// untouchedChild probes everything and says what differs afterwards.
func untouchedChild() int {
	home, _ := os.Readlink("/proc/self/ns/net")
	hosttest.Forget("/run", os.Getenv(untouchedEnv))
	// Others' tools make files there meanwhile, as iptables its lock.
	if err := unix.Mount("tmpfs", "/run", "tmpfs", 0, ""); err != nil {
		fmt.Println("an empty /run:", err)
		return 1
	}
	before := worldState()
	if len(before) < 100 {
		fmt.Println("too little of the machine's state was read:", len(before))
		return 1
	}
	for range 3 {
		Probe(context.Background(), Host()).All()
	}
	for range 6000 {
		if len(threadsOutside(home)) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	before["threads elsewhere"] = ""
	after := worldState()
	after["threads elsewhere"] = strings.Join(threadsOutside(home), " ")
	return differences(before, after)
}

func differences(before, after map[string]string) int {
	all := maps.Clone(before)
	maps.Copy(all, after)
	code := 0
	for key := range all {
		if before[key] != after[key] {
			fmt.Printf("%s: before %q, after %q\n", key, before[key], after[key])
			code = 1
		}
	}
	return code
}

// worldState is what probing could have changed, by what it is.
func worldState() map[string]string {
	state := map[string]string{}
	for name, command := range map[string]string{
		"links":            "ip -d link",
		"routes":           "ip route show table all; ip -6 route show table all",
		"qdiscs":           "tc qdisc",
		"nftables":         "nft list ruleset",
		"iptables-legacy":  "cat /proc/net/ip_tables_names",
		"named namespaces": "ip netns list | grep -c nfprobe",
		"children":         "ps --no-headers -o comm --ppid " + fmt.Sprint(os.Getpid()) + " | grep -v sh",
	} {
		out, _ := exec.Command("sh", "-c", command).Output()
		state[name] = string(out)
	}
	for _, file := range []string{"/proc/self/mountinfo", "/proc/sys/vm/nr_hugepages", "/proc/modules"} {
		b, _ := os.ReadFile(file)
		state[file] = string(b)
	}
	addSysctls(state, "/proc/sys/net", "/proc/sys/user", "/proc/sys/kernel/unprivileged_bpf_disabled")
	addLeavings(state)
	return state
}

func addSysctls(state map[string]string, roots ...string) {
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, "_count") {
				b, _ := os.ReadFile(path)
				state[path] = string(b)
			}
			return nil
		})
	}
}

// addLeavings adds the files and descriptors a probe could leave.
func addLeavings(state map[string]string) {
	lock, err := os.Stat("/run/xtables.lock")
	if err == nil {
		state["/run/xtables.lock"] = lock.ModTime().String()
	}
	temporary, _ := filepath.Glob(filepath.Join(os.TempDir(), "*"))
	state["temporary files"] = strings.Join(temporary, " ")
	open, _ := os.ReadDir("/proc/self/fd")
	state["descriptors"] = fmt.Sprint(len(open))
}

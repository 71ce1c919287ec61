package ruleset_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// within is the environment of a process that has no netlink of netfilter's: the namespace
// and its owner.
const within = "NFCHAIN_TEST_WITHOUT_NETFILTER"

// TestWithoutNetfilter: where the kernel has no netlink of netfilter's there are no rule sets, and
// to make one is an error. Another process has such a kernel, by a filter of its system calls
// that it cannot lose again.
func TestWithoutNetfilter(t *testing.T) {
	if place, is := os.LookupEnv(within); is {
		withoutNetfilter(t, place)
		return
	}
	p := place(t)
	self := exec.Command(os.Args[0], "-test.run", "^TestWithoutNetfilter$", "-test.v")
	self.Env = append(os.Environ(), within+"="+p.Owner+" "+p.Ref)
	if out, err := self.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestWithoutNetfilter") {
		t.Errorf("%v\n%s", err, out)
	}
}

func withoutNetfilter(t *testing.T, place string) {
	owner, ref, _ := strings.Cut(place, " ")
	p := resource.At(nstest.Open(t, ref), owner)
	refuseNetfilter(t)
	if found, err := (ruleset.Kind{}).Read(p); len(found) > 0 || err != nil {
		t.Errorf("found %v, error %v", found, err)
	}
	s := ruleset.Spec{Backend: ruleset.NFTables, Table: "nfchain-x", Hook: "forward", Policy: "accept"}
	err := (ruleset.Kind{}).Apply(p, []resource.Change{{Op: resource.Create, Key: s.Key(), Spec: s}})
	if err == nil || !strings.Contains(err.Error(), "CONFIG_NETFILTER_NETLINK") {
		t.Errorf("error %v", err)
	}
}

// refuseNetfilter makes every later socket(AF_NETLINK, …, NETLINK_NETFILTER) of this process
// fail as it does where the kernel does not know the protocol (seccomp(2)).
func refuseNetfilter(t *testing.T) {
	t.Helper()
	const number, family, protocol = 0, 16, 32 // in struct seccomp_data
	code, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: number, Size: 4}, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_SOCKET, SkipTrue: 5},
		bpf.LoadAbsolute{Off: family, Size: 4}, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.AF_NETLINK, SkipTrue: 3},
		bpf.LoadAbsolute{Off: protocol, Size: 4}, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.NETLINK_NETFILTER, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPROTONOSUPPORT)},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	})
	if err != nil {
		t.Fatal(err)
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: (*unix.SockFilter)(unsafe.Pointer(&code[0]))}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); errno != 0 {
		t.Fatalf("seccomp: %v", errno)
	}
	runtime.KeepAlive(code)
}

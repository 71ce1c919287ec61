package abstract_test

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"nfchain.dev/nfchain/internal/netns/abstract"
	"nfchain.dev/nfchain/internal/nstest"
)

// child is an environment variable that makes this test program a stranger, which
// listens on the name that it holds.
const child = "NFCHAIN_TEST_STRANGER"

func TestMain(m *testing.M) {
	if name := os.Getenv(child); name != "" {
		stranger(name)
	}
	os.Exit(nstest.Main(m))
}

// stranger takes the name and then does the same to whom it hears of: it connects
// to the name given on standard input.
func stranger(name string) {
	l, err := net.Listen("unix", "@"+name)
	if err != nil {
		os.Exit(1)
	}
	defer func() { _ = l.Close() }()
	_, _ = os.Stdout.WriteString("taken\n")
	to := make([]byte, 200)
	n, _ := os.Stdin.Read(to)
	if c, err := net.Dial("unix", "@"+string(to[:n])); err == nil {
		_, _ = io.Copy(io.Discard, c)
	}
	os.Exit(0)
}

func TestMeet(t *testing.T) {
	name := "nfchain/test/" + nstest.Name(t)
	if _, err := abstract.Dial(name); !errors.Is(err, abstract.ErrNone) {
		t.Errorf("dial: %v", err)
	}
	l, err := abstract.Listen(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := abstract.Listen(name); !errors.Is(err, abstract.ErrTaken) {
		t.Errorf("listen twice: %v", err)
	}
	c, err := abstract.Dial(name)
	if err != nil || c.PID != os.Getpid() {
		t.Fatalf("dial: process %d, error %v", c.PID, err)
	}
	_ = c.Close()
	_ = l.Close()
	if l, err = abstract.Listen(name); err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}

// TestStranger meets another user's process on both sides.
func TestStranger(t *testing.T) {
	nstest.Root(t) // to become another user
	name := "nfchain/test/" + nstest.Name(t)
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = self.Close() }()
	cmd := exec.Command("/proc/self/fd/3") // the path may be closed to others
	cmd.ExtraFiles = []*os.File{self}
	cmd.Env = append(os.Environ(), child+"="+name)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	if _, err := io.ReadFull(out, make([]byte, len("taken\n"))); err != nil {
		t.Fatal(err)
	}
	for what, meet := range map[string]func() error{
		"listen": func() error { _, err := abstract.Listen(name); return err },
		"dial":   func() error { _, err := abstract.Dial(name); return err },
	} {
		var s *abstract.StrangerError
		if err := meet(); !errors.As(err, &s) || s.UID != 65534 || s.PID != cmd.Process.Pid || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", what, err)
		}
	}
	l, err := abstract.Listen(name + "/2")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if _, err := in.Write([]byte(name + "/2")); err != nil {
		t.Fatal(err)
	}
	c, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	var s *abstract.StrangerError
	if _, err := abstract.Peer(c); !errors.As(err, &s) || s.Name != "@"+name+"/2" {
		t.Errorf("accept: %v", err)
	}
}

package engine

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/opencontainers/runtime-spec/specs-go"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/netns"
)

// listens is the variable by which this test program is told to listen at a socket.
const listens = "NFCHAIN_TEST_LISTENS"

// TestSharesMounts: one with the mounts of this process sees what is mounted here later, and one with mounts of its own need not.
func TestSharesMounts(t *testing.T) {
	if at := os.Getenv(listens); at != "" {
		if _, err := net.Listen("unix", at); err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.WriteString("listens\n")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is let go
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root makes mount namespaces")
	}
	for want, flags := range map[bool]uintptr{true: 0, false: syscall.CLONE_NEWNS} {
		at := filepath.Join(t.TempDir(), "s")
		c := exec.Command(os.Args[0], "-test.run=^TestSharesMounts$")
		c.Env = append(os.Environ(), listens+"="+at)
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
		hold, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		says, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(says).ReadString('\n'); err != nil {
			t.Error(err)
		}
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: at, Net: "unix"})
		if err != nil {
			t.Error(err)
		} else if got := sharesMounts(conn); got != want {
			t.Errorf("mounts of its own %t: shares them %t", !want, got)
		}
		_ = conn.Close()
		_ = hold.Close()
		_ = c.Wait()
	}
}

// TestOwnPlace: where files may have nothing mounted is where the program is.
func TestOwnPlace(t *testing.T) {
	if program != api.OwnPlace {
		t.Errorf("it is at %s, and %s is kept free", program, api.OwnPlace)
	}
}

// TestContainedInOrder: what is mounted within another is, whichever was written first, and of capabilities all are those that there are.
func TestContainedInOrder(t *testing.T) {
	w := Wanted{Mounts: []Mount{{"/a", "/srv/www/img", true}, {"/b", "/srv", false}, {"/c", "/srv/www/", false}, {"/d", "/opt", false}}, Capabilities: []string{"ALL"}}
	s, err := oci.GenerateSpec(namespaces.WithNamespace(t.Context(), space), nil, &containers.Container{ID: "c"}, contained("c", w)...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range s.Mounts {
		if m.Type == "bind" && m.Source != w.Program {
			got = append(got, m.Source)
		}
	}
	if want := []string{"/b", "/d", "/c", "/a"}; !slices.Equal(got, want) {
		t.Errorf("mounted are %q, want %q", got, want)
	}
	if all := s.Process.Capabilities.Bounding; slices.Contains(all, "CAP_ALL") || len(all) < 2 {
		t.Errorf("of all capabilities it has %q", all)
	}
}

// TestJoins: a container begins in the network namespace that it is to join, in another container's where it is beside that, and else in a new one.
func TestJoins(t *testing.T) {
	for want, w := range map[string]Wanted{"": {}, netns.Path("a.joining"): {In: "a.joining"}, netns.Path("b"): {Beside: "b"}} {
		s, err := oci.GenerateSpec(namespaces.WithNamespace(t.Context(), space), nil, &containers.Container{ID: "c"}, contained("c", w)...)
		if err != nil {
			t.Fatal(err)
		}
		of := slices.DeleteFunc(s.Linux.Namespaces, func(n specs.LinuxNamespace) bool { return n.Type != specs.NetworkNamespace })
		if len(of) != 1 || of[0].Path != want {
			t.Errorf("in %q, beside %q: %+v", w.In, w.Beside, of)
		}
	}
}

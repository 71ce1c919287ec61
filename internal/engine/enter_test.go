package engine_test

import (
	"net"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestLetIn: who waits is told at its gate, and told again where it waits on, as another has heard it.
func TestLetIn(t *testing.T) {
	if !nstest.Alone(t) {
		return
	}
	for at, command := range map[string]string{"@nfchain/gate": engine.EnterCommand, "@nfchain/gate-beside": engine.BesideCommand} {
		dir := t.TempDir()
		if err := unix.Mkfifo(filepath.Join(dir, command), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := &exec.Cmd{Path: "/bin/cat", Args: []string{"/.nfchain", command, "--", "sh"}, Dir: dir} // which reads from nobody
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("unix", at)
		if err != nil {
			t.Fatal(err)
		}
		told := make(chan int, 1)
		go func() {
			for n := 1; ; n++ {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				if n == 2 {
					_ = cmd.Process.Kill()
					_ = cmd.Wait()
					told <- n
				}
				_ = c.Close()
			}
		}()
		err = engine.LetIn(t.Context(), cmd.Process.Pid, netns.Host)
		select {
		case <-told:
		default:
			t.Errorf("%s: it waits, and is told no more: %v", at, err)
			_ = cmd.Process.Kill()
		}
		if err != nil {
			t.Errorf("%s: %v", at, err)
		}
		_ = listener.Close()
	}
}

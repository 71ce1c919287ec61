package supervise

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// TestCatches: of a process is told which signals it does something with; of one that is not there, that it does nothing.
func TestCatches(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR2)
	defer signal.Stop(c)
	if !catches(os.Getpid(), syscall.SIGUSR2) {
		t.Error("this process catches SIGUSR2")
	}
	if catches(os.Getpid(), syscall.SIGKILL) || catches(-1, syscall.SIGTERM) {
		t.Error("nobody catches SIGKILL, and nobody that is not there anything")
	}
}

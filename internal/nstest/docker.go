package nstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// ownEngine tells that a test has an engine of its own, whatever the machine has.
var ownEngine atomic.Bool

// Docker starts a Docker engine of the test's own, with nothing in it, and has DOCKER_HOST name it until the test
// ends. It makes no networks and no rules. Where no engine is installed the test is skipped.
func Docker(tb testing.TB) {
	tb.Helper()
	Root(tb)
	program, err := exec.LookPath("dockerd")
	if err != nil {
		tb.Skip("no Docker engine is installed; apt-get install docker.io")
	}
	dir, err := os.MkdirTemp("", tag+"-d") // short, since a socket is in it
	if err != nil {
		tb.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	cmd := exec.Command(program, "--host", "unix://"+socket, "--data-root", dir+"/data", "--exec-root", dir+"/exec", "--pidfile", dir+"/pid",
		"--bridge", "none", "--ip-forward=false", "--iptables=false", "--ip6tables=false", "--storage-driver", "vfs", "--log-level", "error")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	end := func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
	}
	tb.Cleanup(func() {
		end()
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	if err := answers(ended, func() error {
		answer, err := client.Get("http://docker/_ping")
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	}); err != nil {
		end() // it says no more
		tb.Fatalf("the engine %v:\n%s", err, strings.TrimSpace(said.String()))
	}
	tb.Setenv("DOCKER_HOST", "unix://"+socket)
	ownEngine.Store(true)
	tb.Cleanup(func() { ownEngine.Store(false) })
}

// answersWithin is how long a server may take to begin.
const answersWithin = time.Minute

// answers waits until a server does, as long as it has not ended.
func answers(ended <-chan struct{}, ask func() error) error {
	for deadline := time.After(answersWithin); ; {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return errors.New("ended")
		case <-deadline:
			return fmt.Errorf("does not answer: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// BusyboxImage gives the test's engine an image of busybox, by that name. Where busybox is not installed the test
// is skipped.
func BusyboxImage(tb testing.TB) {
	tb.Helper()
	program, err := exec.LookPath("busybox")
	if err != nil {
		tb.Skip("no busybox is installed, of which the image is made; apt-get install busybox-static")
	}
	const importing = `set -e; mkdir -p root/bin root/tmp; cp "$0" root/bin/busybox; ln -s busybox root/bin/sh; tar -C root -c . | docker import -c 'CMD ["sh"]' - busybox`
	cmd := exec.Command("sh", "-c", importing, program)
	cmd.Dir = tb.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
}

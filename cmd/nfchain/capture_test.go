package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/capture/capturetest"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestCaptureEndsWholeWhenItIsInterrupted: others can read along, and an interrupt leaves a
// file that is whole, and exit code 0.
func TestCaptureEndsWholeWhenItIsInterrupted(t *testing.T) {
	nstest.Root(t)
	c := cli{t, built(t), t.TempDir()}
	name := own + "-caught"
	file := filepath.Join(c.dir, "chain.yaml")
	text := "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: " + name + "}\nspec: {addresses: {ipv6: none}, functions: [{name: r, kind: forward}]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.command("down", name).Run() })
	c.must("up", file, "--wait")
	caught := filepath.Join(c.dir, "caught.pcapng")
	cmd := c.command("capture", name+"/r", "--filter", "udp and dst host server", "--write", caught)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// What is sent is in the file while the capture goes on.
	header := int64(0)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		info, err := os.Stat(caught)
		if err == nil && header == 0 {
			header = info.Size() // all of it is written at once
		}
		if header > 0 && info.Size() > header {
			break
		}
		if header > 0 {
			c.discards(name)
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			t.Fatalf("nothing is written: %v\n%s", cmd.Wait(), out.String())
		}
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	b, err := os.ReadFile(caught)
	if err != nil {
		t.Fatal(err)
	}
	f := capturetest.Read(t, b)
	if len(f.Packets) < 2 || len(f.Interfaces) != 4 || f.Interfaces[0].Statistics.EndTime.IsZero() {
		t.Errorf("%d packets, %+v", len(f.Packets), f.Interfaces)
	}
	for _, p := range f.Packets {
		if p.Interface != "r:eth0:in" && p.Interface != "r:eth1:out" {
			t.Errorf("a packet at %s", p.Interface)
		}
	}
	c.must("down", name)
}

// discards sends a packet from a chain's client to its server, at a port where nobody listens.
func (c cli) discards(chain string) {
	c.t.Helper()
	to := ""
	for line := range strings.Lines(c.must("exec", chain, "client", "--", "cat", "/etc/hosts")) {
		if words := strings.Fields(line); len(words) > 1 && slices.Contains(words[1:], "server") {
			to = net.JoinHostPort(words[0], "7")
		}
	}
	err := netns.Do("nfchain."+chain+".client", func() error {
		s, err := net.Dial("udp", to)
		if err != nil {
			return err
		}
		defer func() { _ = s.Close() }()
		_, _ = s.Write([]byte("x")) // one that is lost is followed by others
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

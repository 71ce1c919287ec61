package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/engine/entry"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestFirstOfAContainer: as the first process of a container nfchain does what that is for before other packages of its own, and those that read
// and describe data, are initialised.
func TestFirstOfAContainer(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := nstest.Name(t)
	taken, err := net.Listen("unix", entry.HostedGate+name) // so that it does not wait
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	var said bytes.Buffer
	cmd := &exec.Cmd{Path: self, Args: []string{entry.Program, entry.Hosted, "--", name, "sh"}, Env: []string{"GODEBUG=inittrace=1"}, Stderr: &said}
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("%v: %s", err, &said)
	}
	if !strings.Contains(said.String(), "nfchain: wait for the network at "+entry.HostedGate+name+": address already in use\n") {
		t.Errorf("it does not say what is wrong: %s", &said)
	}
	if !strings.Contains(said.String(), "init os @") {
		t.Errorf("it does not tell what is initialised: %s", &said)
	}
	for _, later := range []string{"reflect", "nfchain.dev/", "net", "github.com/spf13/", "google.golang.org/protobuf/", "encoding/json"} {
		if strings.Contains(said.String(), "init "+later) {
			t.Errorf("%s is initialised before: %s", later, &said)
		}
	}
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	runs "nfchain.dev/nfchain/internal/run"
)

// TestUnread: a file that cannot be read is the user's to mend, and he is told how.
func TestUnread(t *testing.T) {
	a := &app{}
	_, directory := a.read(t.TempDir())
	_, missing := a.read(t.TempDir() + "/edge.yaml")
	for want, err := range map[string]error{
		"is a directory; name a file in it": directory,
		"there is no file":                  missing,
		"may not be read by user":           unread("edge.yaml", &fs.PathError{Op: "open", Path: "edge.yaml", Err: syscall.EACCES}),
		"input/output error":                unread("edge.yaml", syscall.EIO),
	} {
		if err == nil || !strings.Contains(describe(err), want) || code(err) != exitInput {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestUnseen: who forgot to be root is told, where that may be why a chain is not there.
func TestUnseen(t *testing.T) {
	unknown := fmt.Errorf("%q: %w", "edge", runs.ErrUnknown)
	if said := unseen(unknown, true); !strings.Contains(said, "sudo nfchain") {
		t.Errorf("%q is said without root", said)
	}
	if said := unseen(unknown, false) + unseen(errors.New("the disk is full"), true); said != "" {
		t.Errorf("%q is said where root is no matter", said)
	}
}

// TestPacketsAndBytes: one is one.
func TestPacketsAndBytes(t *testing.T) {
	for want, n := range map[string][2]uint64{"0 packets, 0 bytes": {}, "1 packet, 1 byte": {1, 1}, "2 packets, 90 bytes": {2, 90}} {
		if got := packetsAndBytes(n[0], n[1]); got != want {
			t.Errorf("%v are %q, want %q", n, got, want)
		}
	}
}

// TestReplicasOf a function are told to who names it where one of them is wanted.
func TestReplicasOf(t *testing.T) {
	p := &plan.Plan{Nodes: []plan.Node{{Name: "fw"}, {Name: "web-1", Replica: &plan.Replica{Of: "web", Number: 1, All: 2}}, {Name: "web-2", Replica: &plan.Replica{Of: "web", Number: 2, All: 2}}}}
	if got := replicasOf(p, "web"); !slices.Equal(got, []string{"web-1", "web-2"}) {
		t.Errorf("web has replicas %q", got)
	}
	if got := append(replicasOf(p, "fw"), replicasOf(p, "web-1")...); len(got) > 0 {
		t.Errorf("functions without replicas have %q", got)
	}
}

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestRemovedWhileItIsWaitedFor: who measures a chain by its name has waited for whoever removed it, and does not bring it up again.
func TestRemovedWhileItIsWaitedFor(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.Veth, feature.PerfEvents)
	name, dir := own+"-waited", t.TempDir()
	file := filepath.Join(dir, "chain.yaml")
	text := "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: " + name + "}\nspec: {functions: [{name: a, kind: forward}]}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _, _ = command("down", name) })
	for _, what := range []string{"bench", "profile"} {
		if code, _, err := command("up", file); code != exitDone {
			t.Fatal(err)
		}
		lock, err := deploy.Acquire(t.Context(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		type ended struct {
			code int
			said string
		}
		measured := make(chan ended)
		go func() {
			code, _, said := command(what, name, "--protocol", "udp", "--duration", "1s", "--results", filepath.Join(dir, "r.db"))
			measured <- ended{code, said}
		}()
		time.Sleep(time.Second) // by when it has found the chain, and waits
		if _, err := (&deploy.Deployer{}).Down(context.Background(), name); err != nil {
			t.Error(err)
		}
		lock.Release()
		if got := <-measured; got.code != exitInput || !strings.Contains(got.said, "there is no such chain") {
			t.Errorf("%s: exit code %d, %s", what, got.code, got.said)
		}
		if left := leftovers(name); left != "" {
			t.Errorf("%s brought up again: %s", what, left)
		}
	}
}

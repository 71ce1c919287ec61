package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"nfchain.dev/nfchain/internal/nstest"
)

// failing is a script that fails while its chain has a container of an engine of the script's own.
const failing = `
linked
nfchain up chain.yaml --wait
exec true was brought up
exec false
-- chain.yaml --
apiVersion: nfchain.dev/v1alpha1
kind: NetworkServiceChain
metadata: {name: e2e-failing}
spec: {functions: [{name: fwd, kind: forward, runtime: lxc}]}
`

// TestFailedScript: a script that fails leaves nothing of its chain, containers neither.
func TestFailedScript(t *testing.T) {
	nstest.Root(t)
	if !nstest.Has("tool.lxc") {
		t.Skip("no LXC is installed, whose container is to be left")
	}
	path := filepath.Join(t.TempDir(), "failing.txtar")
	if err := os.WriteFile(path, []byte(owned(failing)), 0o600); err != nil {
		t.Fatal(err)
	}
	of := &failedScript{T: t}
	testscript.RunT(of, scriptParams(t, path))
	if !of.failed || !strings.Contains(of.said, "was brought up") {
		t.Fatalf("the script failed: %t; it was to do so once its chain is up:\n%s", of.failed, of.said)
	}
	if left := leftovers(own + "-failing"); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// failedScript is the test of a script that is to fail.
type failedScript struct {
	*testing.T
	failed bool
	said   string
}

func (f *failedScript) Run(_ string, run func(testscript.T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(f)
	}()
	<-done
}

func (f *failedScript) FailNow() {
	f.failed = true
	runtime.Goexit()
}

func (f *failedScript) Log(said ...any) { f.said += said[0].(string) }

func (*failedScript) Parallel() {}

func (*failedScript) Verbose() bool { return false }

package run_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/run"
)

// TestLimitsOfWhoseEngine: of what containers may use the engines of the plan's own are asked, each once and no others; one that errs tells none.
// So is that of one in the machine's own network, which no namespace has the name of.
func TestLimitsOfWhoseEngine(t *testing.T) {
	var own, other atomic.Int32
	listen := func(variable string, asked *atomic.Int32) {
		at := filepath.Join(t.TempDir(), "s")
		listener, err := net.Listen("unix", at)
		if err != nil {
			t.Fatal(err)
		}
		s := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			http.Error(w, `{"message": "broken"}`, http.StatusInternalServerError)
		})}}
		s.Start()
		t.Cleanup(s.Close)
		t.Setenv(variable, "unix://"+at)
	}
	listen(engine.Variable(engine.Docker), &own)
	listen(engine.Variable(engine.Podman), &other)
	spec := container.Spec{Engine: engine.Docker, Node: "a", Name: "nfchain.edge.a"}
	p := &plan.Plan{Chain: "edge", Resources: []resource.Resource{resource.New("", spec)}}
	for _, namespace := range []string{spec.Name, ""} {
		own.Store(0)
		s := run.State{Nodes: []run.NodeState{{Name: "a", Namespace: namespace}}}
		run.Limit(&s, t.Context(), p)
		if s.Nodes[0].Limits != nil || own.Load() == 0 || other.Load() != 0 {
			t.Errorf("in namespace %q: limits %+v; the plan's engine was asked %d times, and another %d times", namespace, s.Nodes[0].Limits, own.Load(), other.Load())
		}
	}
}

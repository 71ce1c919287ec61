package engine

import (
	"slices"
	"testing"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/opencontainers/runtime-spec/specs-go"

	"nfchain.dev/nfchain/internal/netns"
)

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

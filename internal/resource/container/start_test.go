package container

import (
	"testing"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// joiner is an engine that has containers join network namespaces, or not.
type joiner struct {
	engine.Engine
	joins bool
}

func (j joiner) Joins() bool { return j.joins }

// TestJoin: what a container joins is the namespace that has its name where that is said, and else a new one, whatever somebody left who was
// killed; it has no name when the container has started. In another's namespace, on a network, and by an engine that makes one there is none to join.
func TestJoin(t *testing.T) {
	name := nstest.Namespace(t)
	s := Spec{Node: "a", Name: name}
	at := name + joining
	if err := netns.NameOf(at, name); err != nil { // as one that was killed leaves it
		t.Fatal(err)
	}
	for in, same := range map[string]bool{"": false, name: true} {
		leave, err := s.join(joiner{joins: true}, in)
		if err != nil {
			t.Fatal(err)
		}
		if !netns.Exists(at) || (netns.Identity(at) == netns.Identity(name)) != same || netns.Identity(at) == netns.Identity(netns.Host) {
			t.Errorf("in %q: joins %s, which is not as it should be", in, at)
		}
		leave()
		if netns.Exists(at) || !netns.Exists(name) {
			t.Errorf("in %q: %s is there, or %s is not", in, at, name)
		}
	}
	beside, attached := s, s
	beside.Beside, attached.Network = "nfchain.edge.b", "edge"
	for what, c := range map[string]struct {
		Spec
		joiner
	}{"beside another": {beside, joiner{joins: true}}, "on a network": {attached, joiner{joins: true}}, "by an engine that makes one": {s, joiner{}}} {
		leave, err := c.join(c.joiner, "")
		if err != nil || netns.Exists(at) {
			t.Errorf("%s: %v, there is %s", what, err, at)
		}
		leave()
	}
}

func (joiner) Name() string { return engine.Containerd }

func (joiner) Reading(engine.Container) string { return "cat log" }

// TestRuns: of one that does not run it is said how it ended, or that its engine does not say that.
func TestRuns(t *testing.T) {
	s := Spec{Engine: engine.Containerd, Name: "web"}
	for how, want := range map[string]string{
		"ended with exit code 3": "container web ended with exit code 3 at once; see `cat log`",
		"":                       "container web was started, and containerd says neither that it runs nor how it ended; see `cat log`, and run the command again",
	} {
		if err := s.runs(joiner{}, engine.Container{Name: "web", How: how}); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", how, err, want)
		}
	}
}

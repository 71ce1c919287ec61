package plan_test

import (
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/container"
)

// containers of a plan of functions, in YAML, by their nodes, with the names that they know.
func containers(t *testing.T, functions string) (all map[string]container.Spec, names map[string]container.Names) {
	t.Helper()
	p, err := plan.Make(plantest.Chain(t, "edge", "runtime: docker\nfunctions:\n"+functions), plantest.Catalogue(), plan.Facts{}, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, names = map[string]container.Spec{}, map[string]container.Names{}
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case container.Spec:
			all[s.Node] = s
		case container.Names:
			names[s.Node] = s
		}
	}
	return all, names
}

// TestCapabilities: a container has those that its kind needs, or that its file names.
func TestCapabilities(t *testing.T) {
	all, _ := containers(t, `
- {name: kernel, kind: forward}
- {name: serves, kind: command, container: {image: "x:1"}}
- {name: named, kind: command, container: {image: "x:1", capabilities: [NET_ADMIN]}}
- {name: none, kind: command, container: {image: "x:1", capabilities: []}}
`)
	servers := []string{"CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"}
	for node, want := range map[string][]string{"kernel": {}, "serves": servers, "named": {"NET_ADMIN"}, "none": {}} {
		if got := all[node].Capabilities; got == nil || !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", node, got, want)
		}
	}
}

// TestContainersStay: a function more is a name more to know, and another way for images to come is another way; neither makes a
// container anew.
func TestContainersStay(t *testing.T) {
	const web = "- {name: web, kind: command, container: {image: \"x:1\"}}\n"
	before, knew := containers(t, web)
	after, knows := containers(t, web+"- {name: more, kind: forward}\n")
	if before["web"].Fingerprint() != after["web"].Fingerprint() {
		t.Error("a function more makes it anew")
	}
	if knew["web"].Fingerprint() == knows["web"].Fingerprint() {
		t.Error("it does not know the function more")
	}
	pulled, _ := containers(t, "- {name: web, kind: command, container: {image: \"x:1\", pull: always}}\n")
	if before["web"].Fingerprint() != pulled["web"].Fingerprint() {
		t.Error("another way for its image to come makes it anew")
	}
	own, names := containers(t, "- {name: web, kind: command, container: {image: \"x:1\", mounts: [{source: /x, target: /etc/hosts}]}}\n")
	if own["web"].Names || len(names) > 0 {
		t.Error("it has two files of names")
	}
}

// TestEngineThatAnswers has the functions that leave their runtime to the plan and say what their container is; those
// that a chain has containers of come first, and where none answers the first is what is missing. LXC is none of them.
func TestEngineThatAnswers(t *testing.T) {
	const spec = "runtime: auto\nfunctions: [{name: web, kind: command, container: {image: \"nginx:1.25\"}}, {name: a, kind: forward}]\n"
	for _, c := range []struct {
		answers  []string
		has      []string
		want     string
		requires string
	}{
		{[]string{feature.ToolContainerd}, nil, "containerd", feature.ToolContainerd},
		{[]string{feature.ToolContainerd, feature.ToolDocker}, nil, "docker", feature.ToolDocker},
		{[]string{feature.ToolContainerd, feature.ToolDocker}, []string{"containerd"}, "containerd", feature.ToolContainerd},
		{[]string{feature.ToolLXC, feature.ToolPodman}, []string{"lxc"}, "podman", feature.ToolPodman},
		{[]string{feature.ToolLXC}, nil, "docker", feature.ToolDocker},
		{nil, nil, "docker", feature.ToolDocker},
	} {
		facts := plan.Facts{Engines: map[string][]string{"edge": c.has}, Has: func(name string) bool { return slices.Contains(c.answers, name) }}
		p := made(t, spec, facts, plan.Options{})
		if got := p.Runtimes["web"]; got != c.want || p.Nodes[1].Runtime != c.want || !slices.Contains(p.Requires, c.requires) {
			t.Errorf("%v answer, %v had: %s of %v", c.answers, c.has, got, p.Requires)
		}
		if p.Chose() != "a is netns, web is "+c.want {
			t.Errorf("chose %s", p.Chose())
		}
	}
}

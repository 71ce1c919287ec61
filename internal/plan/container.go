package plan

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/process"
)

// engines are the features that runtimes need which are container engines.
var engines = map[string]string{api.RuntimeDocker: feature.ToolDocker, api.RuntimeContainerd: feature.ToolContainerd, api.RuntimePodman: feature.ToolPodman}

// engineOf a function's container; "" where it has none. One that is left to the plan is of the engine that has
// containers of the chain's already, or else of the first that answers.
func (b *builder) engineOf(f api.Function) string {
	runtime := cmp.Or(f.Runtime, b.chain.Spec.Runtime)
	switch {
	case f.Ref != "" || !f.InContainer(runtime):
		return ""
	case runtime != api.RuntimeAuto:
		return runtime
	}
	chosen := engine.Names()[0] // whose lack is told, where there is none
	if has := b.facts.Engines[b.chain.Metadata.Name]; len(has) > 0 {
		chosen = has[0]
	} else if at := slices.IndexFunc(engine.Names(), func(name string) bool { return b.machineHas()(engines[name]) }); at >= 0 {
		chosen = engine.Names()[at]
	}
	b.choose(f.Name, chosen)
	return chosen
}

// choose a runtime for a function that leaves it to the plan.
func (b *builder) choose(function, runtime string) {
	if b.runtimes == nil {
		b.runtimes = map[string]string{}
	}
	b.runtimes[function] = runtime
}

// contain puts functions into containers whose runtime is an engine. What a function's program was to be in its
// namespace is what its container runs; where it has none, the container is there for its namespace alone.
func (b *builder) contain() error {
	var made []resource.Resource
	for _, n := range b.nodes {
		if n.Runtime == "" {
			continue
		}
		b.requires[engines[n.Runtime]] = true
		c, names, err := b.container(n)
		if err != nil {
			return fmt.Errorf("function %s: %w", n.Name, err)
		}
		if !c.Names {
			made = append(made, resource.New("", c))
			continue
		}
		known := resource.New("", names)
		made = append(made, known, resource.New("", c, known.ID))
	}
	b.resources = slices.Concat(made, b.resources)
	return nil
}

// capabilities of a node's container: those of its file, or else what its kind needs. What is the kernel's work needs none.
func (b *builder) capabilities(n Node) []string {
	if of := n.body.Container; of != nil && of.Capabilities != nil {
		return *of.Capabilities
	}
	kind, is := b.catalogue.Functions[n.Kind].(function.Capable)
	if !is || n.body.Container == nil || n.body.Container.Image == "" {
		return []string{}
	}
	return kind.Capabilities()
}

// container of a node, and the names that it knows, if it does. Its program is kept running there from now on.
func (b *builder) container(n Node) (c container.Spec, names container.Names, err error) {
	c = container.Spec{Engine: n.Runtime, Node: n.Name, Name: n.Namespace}
	if of := n.body.Container; of != nil {
		c.Image, c.Pull, c.ReadOnly, c.User = of.Image, of.Pull, of.ReadOnly, of.User
		if of.Local() {
			c.Image, c.From = cmp.Or(b.facts.Images[of.Image], of.Image), of.Image
		}
		for _, m := range of.Mounts {
			c.Mounts = append(c.Mounts, engine.Mount(m))
		}
	}
	c.Capabilities = b.capabilities(n)
	at := slices.IndexFunc(b.resources, func(r resource.Resource) bool {
		s, is := r.Spec.(process.Spec)
		return is && s.Netns == n.Namespace
	})
	if at < 0 {
		if r := n.body.Resources; r != nil {
			c.CPUs, c.MemoryBytes = r.CPUs, uint64(r.Memory)
		}
		keep := process.Spec{Node: n.Name, Netns: n.Namespace, Args: engine.Resting(), Env: []string{}, Restart: "always", Ready: process.Ready{TimeoutS: 10}, Hosts: []process.HostLine{}}
		b.add(resource.New("", keep.In(c), need(n)...))
		return c, names, nil
	}
	s := b.resources[at].Spec.(process.Spec)
	if s.Own {
		return c, names, fmt.Errorf("%s is a program of nfchain's own here; give it runtime: %s", n.Kind, api.RuntimeNetns)
	}
	if s.Restart != "always" {
		return c, names, fmt.Errorf("restart: %s is for a program in a namespace; a container that ends is started again with its network, so leave restart out", s.Restart)
	}
	c.Args, c.Env, c.Dir, c.CPUs, c.MemoryNodes, c.MemoryBytes = s.Args, s.Env, s.Dir, s.CPUs, s.MemoryNodes, s.MemoryBytes
	if !slices.ContainsFunc(c.Mounts, func(m engine.Mount) bool { return filepath.Clean(m.Target) == container.NamesAt }) {
		c.Names = true
		names = container.Names{Node: n.Name, Hosts: []string{}}
		for _, h := range s.Hosts {
			names.Hosts = append(names.Hosts, h.Address.String()+" "+h.Name)
		}
	}
	b.resources[at].Spec = s.In(c)
	return c, names, nil
}

// Images that containers are made from, by the paths of what they are made of.
func (p *Plan) Images() map[string]string {
	images := map[string]string{}
	for _, r := range p.Resources {
		if c, is := r.Spec.(container.Spec); is && c.From != "" {
			images[c.From] = c.Image
		}
	}
	return images
}

package plan

import (
	"cmp"
	"errors"
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
var engines = map[string]string{api.RuntimeDocker: feature.ToolDocker, api.RuntimeContainerd: feature.ToolContainerd, api.RuntimePodman: feature.ToolPodman, api.RuntimeLXC: feature.ToolLXC}

// engineOf a function's container; "" where it has none. One that is left to the plan is of the engine that has
// containers of the chain's already, or else of the first that answers, but for LXC.
func (b *builder) engineOf(f api.Function) string {
	runtime := cmp.Or(f.Runtime, b.chain.Spec.Runtime)
	switch {
	case f.Ref != "" || !f.InContainer(runtime):
		return ""
	case runtime != api.RuntimeAuto:
		return runtime
	}
	may := slices.DeleteFunc(engine.Names(), func(name string) bool { return name == engine.LXC }) // whose programs may be there for another's containers
	chosen := may[0]                                                                               // whose lack is told, where there is none
	was := b.options.Runtimes[f.Name]
	has := func(name string) bool { return slices.Contains(b.facts.Engines[b.chain.Metadata.Name], name) }
	if slices.Contains(may, was) {
		chosen = was
	} else if at := slices.IndexFunc(may, has); at >= 0 {
		chosen = may[at]
	} else if at := slices.IndexFunc(may, func(name string) bool { return b.machineHas()(engines[name]) }); at >= 0 {
		chosen = may[at]
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
	var refused []error
	if b.network != nil && b.network.Made() {
		made = append(made, resource.New("", *b.network))
	}
	for _, n := range b.nodes {
		if n.Runtime == "" {
			continue
		}
		b.requires[engines[n.Runtime]] = true
		c, err := b.container(n)
		if err != nil {
			who := map[bool]string{true: "endpoint ", false: "function "}[n.Kind == "endpoint"]
			refused = append(refused, about(err, who+n.Name))
			continue
		}
		var needs []string
		if known := b.known(n); c.Names {
			made, needs = append(made, known), append(needs, known.ID)
		}
		if b.network != nil && b.network.Made() {
			needs = append(needs, resource.ID(container.NetworkKindName, "", b.network.Key()))
		}
		if c.Beside != "" {
			needs = append(needs, resource.ID(container.KindName, "", c.Beside))
		}
		made = append(made, resource.New("", c, needs...))
	}
	b.resources = slices.Concat(made, b.resources)
	return errors.Join(refused...)
}

// known takes out the names that a node's program knows, which are its container's.
func (b *builder) known(n Node) (names resource.Resource) {
	id := resource.ID(container.NamesKindName, "", n.Name)
	if at := slices.IndexFunc(b.resources, named(id)); at >= 0 {
		names = b.resources[at]
		b.resources = slices.Delete(b.resources, at, at+1)
	}
	for i, r := range b.resources {
		b.resources[i].Needs = slices.DeleteFunc(r.Needs, func(need string) bool { return need == id })
	}
	return names
}

// capabilities of a node's container: those of its file, or else what its kind needs. What is the kernel's work needs none.
func (b *builder) capabilities(n Node) []string {
	if of := n.body.Container; of != nil && of.Capabilities != nil {
		return *of.Capabilities
	}
	of := n.Kind
	if _, runs := n.endpoint.Options[EndpointKind]; runs {
		of = EndpointKind
	}
	kind, is := b.catalogue.Functions[of].(function.Capable)
	if !is || n.body.Container == nil || n.body.Container.Image == "" {
		return []string{}
	}
	return kind.Capabilities()
}

// container of a node. Its program is kept running there from now on.
func (b *builder) container(n Node) (c container.Spec, err error) {
	c = container.Spec{Engine: n.Runtime, Node: n.Name, Name: cmp.Or(n.Namespace, b.namespaceOf(n.Name))}
	if n.Called != "" {
		c.Hostname = n.Usual()
	}
	if b.network != nil {
		c.Network = b.network.Name
	}
	c.Beside = b.beside(n)
	c.Publish = b.translated()
	if of := n.body.Container; of != nil {
		c.Image, c.Pull, c.ReadOnly, c.Seccomp, c.User = of.Image, of.Pull, of.ReadOnly, of.Seccomp, of.User
		if err := seccomp(n.Runtime, of); err != nil {
			return c, fmt.Errorf("container.seccomp: %w", err)
		}
		if of.Local() {
			c.Image, c.From = cmp.Or(b.facts.Images[of.Image], of.Image), of.Image
		}
		for _, m := range of.Mounts {
			c.Mounts = append(c.Mounts, engine.Mount(m))
		}
	}
	c.Capabilities = b.capabilities(n)
	if r := n.body.Resources; r != nil {
		c.CPUTime = r.CPUTime
	}
	if page, pages := b.pagesOf(n.body); pages > 0 {
		c.PageBytes, c.HugepageBytes = page, page*pages
		b.requires[feature.HugepagesLimits] = true
	}
	at := slices.IndexFunc(b.resources, func(r resource.Resource) bool {
		s, is := r.Spec.(process.Spec)
		return is && s.Netns == n.Namespace && (n.Made || s.Node == n.Name)
	})
	if at < 0 {
		if r := n.body.Resources; r != nil {
			c.CPUs, c.MemoryBytes = r.CPUs, uint64(r.Memory)
		}
		keep := process.Spec{Node: n.Name, Netns: n.Namespace, Args: engine.Resting(), Env: []string{}, Restart: "always", Ready: process.Ready{AtOnce: true, TimeoutS: 10}}
		b.add(resource.New("", keep.In(c), need(n)...))
		return c, nil
	}
	s := b.resources[at].Spec.(process.Spec)
	if s.Own {
		return c, fmt.Errorf("%s is a program of nfchain's own here; give it runtime: %s, or %s: %s", n.Kind, api.RuntimeNetns, n.Kind, b.catalogue.Functions[n.Kind].Shows().Contained)
	}
	if s.Restart != "always" {
		return c, fmt.Errorf("restart: %s is for a program in a namespace; a container that ends is started again with its network, so leave restart out", s.Restart)
	}
	c.Args, c.Env, c.Dir, c.CPUs, c.MemoryNodes, c.MemoryBytes = s.Args, s.Env, s.Dir, s.CPUs, s.MemoryNodes, s.MemoryBytes
	c.Names = b.network == nil && !slices.ContainsFunc(c.Mounts, func(m engine.Mount) bool { return filepath.Clean(m.Target) == container.NamesAt })
	b.resources[at].Spec = s.In(c)
	return c, nil
}

// seccomp is an error where a container's profile cannot be of its engine.
func seccomp(runtime string, of *api.Container) error {
	if of.SeccompByPath() {
		return fmt.Errorf("%s is from nowhere here; write it in a file of a chain, or the profile itself", of.Seccomp)
	}
	if runtime != api.RuntimeContainerd && runtime != api.RuntimeLXC || of.Seccomp == "" || of.Seccomp == api.Unconfined {
		return nil
	}
	p, err := api.ParseSeccomp([]byte(of.Seccomp))
	if has := p.OfDocker(); err == nil && has != "" {
		return fmt.Errorf("the profile has %s, which is of Docker's profiles; %s takes those of OCI's runtime specification, so write architectures, and syscalls by names and without conditions", has, runtime)
	}
	return err
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

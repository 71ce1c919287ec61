package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/words"
)

// chooseMemory gives every node of the path, and every function that shares one, a memory
// node.
func (p *placing) chooseMemory(nodes []Node) error {
	if p.asked.NUMA == "" {
		return nil
	}
	var usable []int
	for _, n := range slices.Sorted(maps.Keys(p.memory)) {
		if len(p.of(n, p.allowed)) > 0 {
			usable = append(usable, n)
		}
	}
	switch len(usable) {
	case 0:
		return errors.New("this machine does not tell of memory nodes (CONFIG_NUMA), so there is nothing to choose; leave it out")
	case 1:
		return fmt.Errorf("this machine has one memory node with CPUs that nfchain may use, node %d, so there is nothing to choose; leave it out", usable[0])
	}
	turn, err := p.turns(usable)
	if err != nil {
		return err
	}
	p.near = map[string]int{}
	if len(turn) == 1 {
		p.near[WiringNode] = turn[0]
	}
	for i, n := range nodes {
		p.near[n.Name] = turn[i%len(turn)]
		for _, m := range n.members() {
			p.near[m.Name] = p.near[n.Name]
		}
	}
	return nil
}

// turns are the memory nodes that those of the path are in by turns.
func (p *placing) turns(usable []int) ([]int, error) {
	switch p.asked.NUMA {
	case api.NUMADifferent:
		return usable, nil
	case api.NUMASame:
		most := slices.MaxFunc(usable, func(a, b int) int { return len(p.of(a, p.allowed)) - len(p.of(b, p.allowed)) })
		return []int{most}, nil
	}
	n, err := strconv.Atoi(p.asked.NUMA)
	if err != nil || !slices.Contains(usable, n) {
		return nil, fmt.Errorf("there is no memory node %s with CPUs that nfchain may use; there are %s", p.asked.NUMA, words.Ranges(usable))
	}
	return []int{n}, nil
}

// of a memory node are some of these CPUs.
func (p *placing) of(memory int, cpus []int) (some []int) {
	for _, cpu := range cpus {
		if slices.Contains(p.memory[memory], cpu) {
			some = append(some, cpu)
		}
	}
	return some
}

// nearTo a node of the path are those CPUs of its memory node; all where it has none.
func (p *placing) nearTo(node string, cpus []int) []int {
	memory, has := p.near[node]
	if !has {
		return cpus
	}
	return p.of(memory, cpus)
}

// chooseNear gives each of the nodes a free CPU of its memory node, the last first.
func (p *placing) chooseNear(nodes []string, free []int) error {
	for _, name := range nodes {
		near := slices.DeleteFunc(p.nearTo(name, free), p.isOwn)
		if len(near) == 0 {
			return fmt.Errorf("exclusive needs another CPU, for %s, and memory node %d has none left for it (%s)%s; share some of the work, or leave some to the kernel (none)",
				name, p.near[name], words.Ranges(p.memory[p.near[name]]), p.others(p.memory[p.near[name]]))
		}
		p.own[name] = near[len(near)-1]
	}
	return nil
}

func (p *placing) nodesOfMemory() map[string][]int {
	if p.near == nil {
		return nil
	}
	all := map[string][]int{}
	for name, n := range p.near {
		if name != WiringNode { // whose memory is where its CPUs first use it
			all[name] = []int{n}
		}
	}
	return all
}

// seat has programs use memory of the node that they are placed in.
func (b *builder) seat(made []resource.Resource) {
	if b.placement == nil {
		return
	}
	for i, r := range made {
		if s, is := r.Spec.(process.Spec); is {
			s.MemoryNodes = b.placement.Memory[s.Node]
			made[i].Spec = s
		}
	}
}

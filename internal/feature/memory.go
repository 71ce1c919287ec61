package feature

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/trial"
)

// numa are the memory nodes with their cores and memory.
func (e Env) numa() (all []trial.NUMANode) {
	nodes, _ := e.Files.List("sys/devices/system/node/online")
	for _, n := range nodes {
		dir := fmt.Sprintf("sys/devices/system/node/node%d/", n)
		cpus, ok := e.Files.Text(dir + "cpulist")
		if !ok && !e.Files.Exists(dir+"cpulist") {
			continue
		}
		all = append(all, trial.NUMANode{Node: n, CPUs: cpus, MemoryBytes: nodeMemory(e.text(dir+"meminfo"), n)})
	}
	return all
}

// nodeMemory is MemTotal of a node's meminfo, whose lines begin "Node 0 ".
func nodeMemory(text string, node int) uint64 {
	text = strings.ReplaceAll(text, fmt.Sprintf("Node %d ", node), "")
	return procfs.ParseMeminfo(text)["MemTotal"]
}

// hugepages are the machine's pools, empty ones too: that nothing is reserved is
// worth telling.
func (e Env) hugepages() (all []trial.HugepagePool) {
	for _, dir := range e.Files.Glob("sys/kernel/mm/hugepages/hugepages-*kB") {
		size, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(path.Base(dir), "hugepages-"), "kB"), 10, 40)
		total, ok := e.Files.Uint(path.Join(dir, "nr_hugepages"))
		free, told := e.Files.Uint(path.Join(dir, "free_hugepages"))
		if err == nil && ok && told {
			all = append(all, trial.HugepagePool{SizeBytes: size << 10, Total: total, Free: free})
		}
	}
	return all
}

package feature

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"nfchain.dev/nfchain/internal/feature/procfs"
)

// TestMemoryNodes reads a machine of two sockets and a node without CPUs.
func TestMemoryNodes(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"sys/devices/system/node/online":        "0-2\n",
		"sys/devices/system/node/node0/cpulist": "0-1,4\n",
		"sys/devices/system/node/node1/cpulist": "2-3\n",
		"sys/devices/system/node/node2/cpulist": "\n",
		"proc/meminfo":                          "MemTotal: 100 kB\nHugePages_Total:  5\nHugePages_Free:  3\nHugepagesize:    2048 kB\n",
		"proc/self/status":                      "Name:\tx\nCpus_allowed_list:\t1-3\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := Probe(t.Context(), Env{Files: procfs.Root(root)})
	if got := fmt.Sprint(s.MemoryNodes()); got != "map[0:[0 1 4] 1:[2 3]]" {
		t.Error(got)
	}
	if size, reserved, told := s.ReservedHugepages(); size != 2<<20 || reserved != 5 || !told {
		t.Error(size, reserved, told)
	}
	if got := fmt.Sprint(s.AllowedCPUs()); got != "[1 2 3]" {
		t.Error(got)
	}
}

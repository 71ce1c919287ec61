package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containerd/containerd/v2/pkg/oci"
)

// TestLimits: what an engine is told of limits is what it tells of them, where a container is made and where they change, those that
// are taken away too.
func TestLimits(t *testing.T) {
	for _, l := range []Limits{
		{},
		{CPUs: "0-1"}, {CPUs: "0"}, {CPUs: "0,2-3"}, {CPUs: "1,0"}, {CPUs: "0,0"}, {CPUs: "0-1, 0-1"}, {CPUTime: 0.5}, {CPUTime: 0.015}, {CPUTime: 12}, {CPUTime: 0.3333}, {CPUTime: 1.0 / 3}, {CPUTime: 8191.99999}, {MemoryNodes: []int{0}}, {MemoryNodes: []int{0, 2}}, {MemoryBytes: 64 << 20},
		{CPUs: "1", CPUTime: 0.25, MemoryNodes: []int{1}, MemoryBytes: 12345678},
	} {
		changed, err := l.changed()
		if err != nil {
			t.Fatal(err)
		}
		for what, got := range map[string]Limits{"made": limitsOf(l.resources()), "changed": limitsOf(changed)} {
			if got.String() != l.String() {
				t.Errorf("%s with %q, and is told as %q", what, l, got)
			}
		}
		if changed.CpusetCpus == "" || changed.CpusetMems == "" || changed.Memory == 0 || changed.CPUQuota == 0 || changed.MemorySwap <= changed.Memory {
			t.Errorf("%q: leaves something as it is: %+v", l, changed)
		}
		s := oci.Spec{}
		Limits{CPUs: "7", CPUTime: 7, MemoryNodes: []int{7}, MemoryBytes: 7}.within(&s)
		l.within(&s)
		if got := limitsIn(&s); got.String() != l.String() {
			t.Errorf("a specification with %q has %q", l, got)
		}
		task, err := l.task()
		if err != nil {
			t.Fatal(err)
		}
		if task.CPU.Cpus == "" || task.CPU.Mems == "" || *task.CPU.Quota == 0 || *task.Memory.Limit == 0 || *task.Memory.Limit > boundless/2 {
			t.Errorf("%q: leaves something as it is: %+v %+v", l, task.CPU, task.Memory)
		}
	}
	if got := limitsIn(&oci.Spec{}).String(); got != "" {
		t.Errorf("no specification has %q", got)
	}
}

// TestLimitsInWords: what is not told of a container, as more than a quota can be of, is not said of what it is to have.
func TestLimitsInWords(t *testing.T) {
	for want, l := range map[string]Limits{
		"CPUs 0": {CPUs: "0,0"}, "CPUs 0-1,3": {CPUs: "0-1, 3,0-1"}, "CPUs 1,0": {CPUs: "1,0"},
		"time of 0.3333 CPUs": {CPUTime: 0.3333}, "time of 0.33333 CPUs": {CPUTime: 1.0 / 3},
	} {
		if got := l.String(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// TestNoNUMA: a kernel without memory nodes has limits too.
func TestNoNUMA(t *testing.T) {
	had := devices
	t.Cleanup(func() { devices = had })
	devices = t.TempDir()
	if _, err := (Limits{CPUTime: 1}).changed(); err == nil || !strings.Contains(err.Error(), "cpu/online") {
		t.Errorf("without CPUs: %v", err)
	}
	if err := os.Mkdir(filepath.Join(devices, "cpu"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(devices, "cpu", "online"), []byte("0-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Limits{CPUTime: 1}.changed()
	if err != nil || r.CpusetCpus != "0-1,0-1" || r.CpusetMems != "" {
		t.Errorf("%+v, %v", r, err)
	}
}

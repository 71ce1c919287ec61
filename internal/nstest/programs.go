package nstest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
)

// Held are the numbers of the BPF objects of a kind, prog_id or link_id, of which a
// process has descriptors.
func Held(tb testing.TB, pid int, kind string) (all []uint32) {
	tb.Helper()
	infos, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range infos {
		text, _ := os.ReadFile(name) // it may be closed by now
		for line := range strings.Lines(string(text)) {
			var id uint32
			if n, _ := fmt.Sscanf(line, kind+":\t%d", &id); n == 1 && !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	return all
}

// Freed waits for the kernel to free a BPF program, which it does a while after the last
// descriptor of it is closed.
func Freed(tb testing.TB, program uint32) {
	tb.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		p, err := ebpf.NewProgramFromID(ebpf.ProgramID(program))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			tb.Fatal(err)
		}
		_ = p.Close()
	}
	tb.Errorf("program %d is still there", program)
}

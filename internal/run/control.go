package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/engine"
	parsed "nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/trial"
)

// control is what keeps a chain as it is while it is up, by the nodes as which that is observed: its supervisor, and the engines of its
// containers. One that cannot be told is left out.
func control(ctx context.Context, p *plan.Plan) map[string][]int {
	parts := map[string][]int{}
	if pid := served(process.Address(p.Chain)); pid > 0 {
		parts[trial.SupervisorNode] = []int{pid}
	}
	var asked []string
	for _, n := range p.Nodes {
		if n.Runtime == "" || slices.Contains(asked, n.Runtime) {
			continue
		}
		asked = append(asked, n.Runtime)
		e, err := engine.Open(ctx, n.Runtime)
		if err != nil {
			continue
		}
		if path, local := strings.CutPrefix(e.Host(), "unix://"); local {
			pid := served(path)
			if pid == 1 { // which listens for it until somebody asks (systemd.socket(5))
				pid = holder(path)
			}
			if pid > 0 {
				parts[trial.EngineNode(n.Runtime)] = []int{pid}
			}
		}
		_ = e.Close()
	}
	return parts
}

// served is the process that listens at a socket; 0 if none.
func served(path string) int {
	c, err := rundir.Dial(path)
	if err != nil {
		return 0
	}
	_ = c.Close()
	return c.PID
}

// holder is the one process besides the first that has the socket which listens at a path; 0 where there is none, or several are. One that is just
// about to begin another has it twice for a moment.
func holder(path string) (pid int) {
	for range 3 {
		if pid = holderNow(path); pid > 0 {
			return pid
		}
		time.Sleep(5 * time.Millisecond)
	}
	return 0
}

func holderNow(path string) (pid int) {
	if at, err := filepath.EvalSymlinks(path); err == nil {
		path = at
	}
	fs, err := procfs.NewFS("/proc")
	if err != nil {
		return 0
	}
	sockets, err := fs.NetUNIX()
	if err != nil {
		return 0
	}
	var listening []string
	for _, s := range sockets.Rows {
		if s.Path == path && s.Flags.String() == "listen" {
			listening = append(listening, fmt.Sprintf("socket:[%d]", s.Inode))
		}
	}
	all, err := fs.AllProcs()
	if err != nil {
		return 0
	}
	for _, p := range all {
		has, err := p.FileDescriptorTargets()
		if err != nil || p.PID == 1 || !slices.ContainsFunc(has, func(file string) bool { return slices.Contains(listening, file) }) {
			continue
		}
		if pid != 0 {
			return 0
		}
		pid = p.PID
	}
	return pid
}

// spent is the CPU time of this process so far, s.
func spent() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// freshPeak has the kernel note anew the most memory that this process has resident (proc(5), clear_refs), and gives what tells it then, bytes; 0 where
// the kernel does not note it anew.
func freshPeak() (peak func() uint64) {
	const anew = "5"
	if err := os.WriteFile("/proc/self/clear_refs", []byte(anew), 0); err != nil {
		return func() uint64 { return 0 }
	}
	return func() uint64 {
		text, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return 0
		}
		return parsed.ParseMeminfo(string(text))["VmHWM"]
	}
}

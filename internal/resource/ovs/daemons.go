package ovs

import (
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/resource"
)

// The programs.
const (
	server = "ovsdb-server"
	daemon = "ovs-vswitchd"
)

// programs in the order in which they are started.
var programs = []string{server, daemon}

// Spec of the owner's daemons. The resource lives in the namespace that they run in.
type Spec struct {
	Owner string `json:"owner"`
	// CPUs that they may use, as a list; "" is all.
	CPUs string `json:"cpus,omitempty"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key implements resource.Spec: there is one pair.
func (Spec) Key() string { return "daemons" }

// Fingerprint is which of them run, and where.
func (s Spec) Fingerprint() string { return running(programs) + onCPUs(s.CPUs) }

func running(those []string) string { return "running: " + strings.Join(those, ", ") }

// Commands implements resource.Spec.
func (s Spec) Commands(ns string) []resource.Command {
	all := []resource.Command{
		resource.Cmd("rm", "-rf", Dir(s.Owner)),
		resource.Cmd("install", "-d", "-m", "700", Dir(s.Owner)),
	}
	first := append([]string{"env"}, s.environment()...)
	if s.CPUs != "" {
		all = append(all, resource.Cmd("sh", "-c", "echo "+s.CPUs+" >"+bound(s.Owner)))
		first = append([]string{"taskset", "-c", s.CPUs}, first...)
	}
	for _, words := range s.steps() {
		all = append(all, resource.In(ns, append(slices.Clip(first), words...)...))
	}
	return all
}

// steps that start the daemons. Each returns when the next can be done.
func (s Spec) steps() [][]string {
	return [][]string{
		{"ovsdb-tool", "create", database(s.Owner)},
		append([]string{server, database(s.Owner), "--remote=p" + socket(s.Owner)}, s.options(server)...),
		{"ovs-vsctl", "--db=" + socket(s.Owner), "--timeout=60", "--no-wait", "init"},
		append([]string{daemon, socket(s.Owner)}, s.options(daemon)...),
	}
}

// options of a daemon: every file in the owner's directory.
func (s Spec) options(program string) []string {
	return []string{
		"-vconsole:off", "--log-file=" + in(s.Owner, program+".log"), "--no-chdir", "--detach",
		"--pidfile=" + in(s.Owner, program+".pid"), "--unixctl=" + in(s.Owner, program+".ctl"),
	}
}

// mark says whose daemons they are.
const mark = "NFCHAIN_OVS"

// environment has the mark, and the places of whatever has no option of its own.
func (s Spec) environment() []string {
	dir := Dir(s.Owner)
	return []string{mark + "=" + s.Owner, "OVS_RUNDIR=" + dir, "OVS_LOGDIR=" + dir, "OVS_DBDIR=" + dir, "OVS_SYSCONFDIR=" + dir}
}

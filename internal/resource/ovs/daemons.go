package ovs

import (
	"strings"

	"nfchain.dev/nfchain/internal/resource"
)

// The programs.
const (
	server = "ovsdb-server"
	daemon = "ovs-vswitchd"
)

// Spec of the owner's daemons. The resource lives in the namespace that they run in.
type Spec struct {
	Owner string `json:"owner"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key implements resource.Spec: there is one pair.
func (Spec) Key() string { return "daemons" }

// Fingerprint is which of them run.
func (Spec) Fingerprint() string { return running([]string{server, daemon}) }

func running(programs []string) string { return "running: " + strings.Join(programs, ", ") }

// Commands implements resource.Spec.
func (s Spec) Commands(ns string) []resource.Command {
	all := []resource.Command{
		resource.Cmd("rm", "-rf", Dir(s.Owner)),
		resource.Cmd("install", "-d", "-m", "700", Dir(s.Owner)),
	}
	for _, words := range s.steps() {
		all = append(all, resource.In(ns, append(append([]string{"env"}, s.environment()...), words...)...))
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

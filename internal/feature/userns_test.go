package feature

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestUserNSGates(t *testing.T) {
	cases := map[string]struct {
		files map[string]string
		fix   string // empty: allowed
	}{
		"allowed":     {map[string]string{"proc/sys/user/max_user_namespaces": "96365\n"}, ""},
		"none at all": {map[string]string{"proc/sys/user/max_user_namespaces": "0\n"}, "sysctl -w user.max_user_namespaces=10000"},
		"Debian shut": {map[string]string{"proc/sys/kernel/unprivileged_userns_clone": "0\n"}, "sysctl -w kernel.unprivileged_userns_clone=1"},
		"Debian open": {map[string]string{"proc/sys/kernel/unprivileged_userns_clone": "1\n"}, ""},
		"Ubuntu 24.04": {map[string]string{"proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"},
			"sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
		"Ubuntu 22.04": {map[string]string{"proc/sys/kernel/unprivileged_userns_clone": "1\n"}, ""},
	}
	for name, c := range cases {
		if os.Geteuid() != 0 {
			continue // others are told by trying, below
		}
		f := Probe(t.Context(), Env{Files: tree(t, c.files)}).Get(UserNS)
		if f.Present != (c.fix == "") || f.Fix != c.fix {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// A plain user's own attempt is the evidence.
func TestUserNSAgreesWithUnshare(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("becoming a plain user takes root")
	}
	needWitnesses(t, "setpriv", "unshare", "ip")
	f := Probe(t.Context(), Host()).Get(UserNS)
	out, err := exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
		"unshare", "--user", "--map-root-user", "--net", "ip", "link", "set", "lo", "up").CombinedOutput()
	if f.Present != (err == nil) {
		t.Errorf("probe %+v, unshare: %v: %s", f, err, out)
	}
}

// TestEnginesAreOfTheMachinesRoot, whose namespaces nobody enters from a user namespace of a single user, whether they answer or not.
func TestEnginesAreOfTheMachinesRoot(t *testing.T) {
	for name, c := range map[string]struct {
		uids    string
		refused bool
	}{
		"a user's own":           {"         0       1000          1\n", true},
		"of a container of many": {"         0     100000      65536\n", os.Geteuid() != 0},
		"the first":              {"         0          0 4294967295\n", os.Geteuid() != 0},
	} {
		env := Env{Files: tree(t, map[string]string{"proc/self/uid_map": c.uids}), Path: bin(t, map[string]string{"lxc-start": "exit 1"}).Path}
		for _, tool := range []string{ToolDocker, ToolContainerd, ToolPodman, ToolLXC} {
			if f := Probe(t.Context(), env).Get(tool); c.refused != (f.Fix == "sudo nfchain …") || f.Present && c.refused {
				t.Errorf("%s, %s: %+v", name, tool, f)
			}
		}
	}
}

func TestPrivilegesInWords(t *testing.T) {
	host := Env{Files: tree(t, map[string]string{"proc/self/uid_map": "         0          0 4294967295\n"})}
	inside := Env{Files: tree(t, map[string]string{"proc/self/uid_map": "         0       1000          1\n"})}
	if host.InUserNS() || !inside.InUserNS() {
		t.Error("the first user namespace is taken for another, or another for it")
	}
	if s := inside.privileges(); !strings.Contains(s, " in a user namespace") {
		t.Errorf("got %q", s)
	}
}

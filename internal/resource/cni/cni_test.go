package cni_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/cni"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

// TestNetwork: what a configuration must have is asked for.
func TestNetwork(t *testing.T) {
	for text, want := range map[string]string{
		`{"cniVersion": "1.0.0", "name": "lab", "plugins": [{"type": "bridge"}]}`: "",
		`{"cniVersion": "0.3.1", "name": "lab", "type": "ptp"}`:                   "",
		`plugins: []`:                                      "is not JSON",
		`{"name": "lab", "plugins": []}`:                   "no plugins in list",
		`{"name": "lab"}`:                                  "names no plugin; write plugins: a list",
		`{"plugins": [{"type": "bridge"}]}`:                "no name",
		`{"name": "a/b", "plugins": [{"type": "bridge"}]}`: "the name of the network",
		`{"name": "lab", "plugins": [{"mtu": 1}]}`:         "type",
	} {
		_, err := cni.Network(text)
		if err == nil != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// plugin is a program that acts as one: it notes what it is asked, makes an interface, and fails as often as a file says.
const plugin = `#!/bin/sh
dir=$(dirname "$0")
echo "$CNI_COMMAND $CNI_CONTAINERID $CNI_IFNAME ${CNI_NETNS:-gone}" >>"$dir/asked"
case $CNI_COMMAND in
VERSION) echo '{"cniVersion": "1.0.0", "supportedVersions": ["0.3.1", "1.0.0"]}'; exit ;;
ADD)
	if [ -s "$dir/fail" ]; then
		sed -i 1d "$dir/fail"
		echo '{"cniVersion": "1.0.0", "code": 100, "msg": "no more addresses"}'
		exit 1
	fi
	nsenter --net="$CNI_NETNS" ip link add "$CNI_IFNAME" type bridge || exit 1
	echo '{"cniVersion": "1.0.0", "interfaces": [{"name": "eth0"}], "ips": [{"address": "198.51.100.2/24"}]}'
	;;
CHECK) [ ! -e "$dir/wrong" ] || { echo '{"cniVersion": "1.0.0", "code": 101, "msg": "its bridge is gone"}'; exit 1; } ;;
DEL) [ -z "$CNI_NETNS" ] || nsenter --net="$CNI_NETNS" ip link del "$CNI_IFNAME" 2>/dev/null || true ;;
esac
`

// stand is a namespace of an owner's, and plugins in a directory.
type stand struct {
	owner, name, dir string
}

func standing(t *testing.T) stand {
	t.Helper()
	nstest.Root(t)
	s := stand{owner: nstest.Owner(t), dir: t.TempDir()}
	s.name = namespace.Name(s.owner, "a")
	if err := netns.Create(s.name, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := netns.Remove(s.name); err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(rundir.Of(s.owner))
		rundir.Sweep()
	})
	if err := os.WriteFile(filepath.Join(s.dir, "fake"), []byte(plugin), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return s
}

func (s stand) spec(version string) cni.Spec {
	return cni.Spec{Namespace: s.name, Device: "eth0", Network: `{"cniVersion": "` + version + `", "name": "lab", "plugins": [{"type": "fake"}]}`, Plugins: []string{s.dir}}
}

// asked is what the plugin was asked since this was last asked.
func (s stand) asked(t *testing.T) string {
	t.Helper()
	name := filepath.Join(s.dir, "asked")
	text, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	_ = os.Remove(name)
	words := strings.NewReplacer(" "+s.name+" eth0", "", " "+netns.Path(s.name), "")
	return strings.Join(strings.Split(strings.TrimSpace(words.Replace(string(text))), "\n"), ",")
}

func (s stand) apply(t *testing.T, op resource.Op, spec cni.Spec) error {
	t.Helper()
	c := resource.Change{Op: op, Key: spec.Key(), Spec: spec}
	if op == resource.Delete {
		c.Spec = nil
	}
	return (cni.Kind{}).Apply(resource.At(nstest.Open(t, s.name), s.owner), []resource.Change{c})
}

// read is what is observed of the attachment.
func (s stand) read(t *testing.T) string {
	t.Helper()
	found, err := (cni.Kind{}).Read(resource.At(nstest.Open(t, s.name), s.owner))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		return ""
	}
	return found[0].Fingerprint
}

// TestAttachment is made, checked, made anew where it is not as it was made, and taken away.
func TestAttachment(t *testing.T) {
	s := standing(t)
	spec := s.spec("1.0.0")
	if err := (cni.Kind{}).Possible([]resource.Spec{spec, spec}); err != nil || strings.Count(s.asked(t), "VERSION") != 1 {
		t.Fatalf("possible: %v", err)
	}
	if err := s.apply(t, resource.Create, spec); err != nil {
		t.Fatal(err)
	}
	if asked := s.asked(t); asked != "ADD" {
		t.Errorf("asked %s", asked)
	}
	if is, asked := s.read(t), s.asked(t); is != spec.Fingerprint() || asked != "CHECK" {
		t.Errorf("read %q by %s", is, asked)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "wrong"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if is := s.read(t); !strings.Contains(is, "its bridge is gone") {
		t.Errorf("read %q of what the plugin says is wrong", is)
	}
	s.asked(t)
	if err := s.apply(t, resource.Update, spec); err != nil {
		t.Fatal(err)
	}
	if asked := s.asked(t); asked != "DEL,ADD" {
		t.Errorf("asked %s for another", asked)
	}
	if err := s.apply(t, resource.Delete, spec); err != nil {
		t.Fatal(err)
	}
	if asked := s.asked(t); asked != "DEL" || s.read(t) != "" {
		t.Errorf("asked %s, read %q when it is gone", asked, s.read(t))
	}
	if left, _ := filepath.Glob(filepath.Join(rundir.Of(s.owner), "*", "*", "*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// TestKilled: who was killed between what it wrote down and what the plugin made leaves what the next can take away, though the
// namespace is gone too.
func TestKilled(t *testing.T) {
	s := standing(t)
	spec := s.spec("1.0.0")
	if err := s.apply(t, resource.Create, spec); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(rundir.Of(s.owner), "cni")); err != nil { // what libcni writes when all is made
		t.Fatal(err)
	}
	if err := netns.Remove(s.name); err != nil {
		t.Fatal(err)
	}
	s.asked(t)
	if err := cni.DetachAll(s.owner); err != nil {
		t.Fatal(err)
	}
	if asked := s.asked(t); asked != "DEL gone" {
		t.Errorf("asked %q", asked)
	}
	if all, err := cni.All(s.owner); err != nil || len(all) > 0 {
		t.Errorf("left %v, %v", all, err)
	}
	if err := cni.DetachAll(s.owner); err != nil || s.asked(t) != "" {
		t.Errorf("again: %v", err)
	}
}

// TestLeftover: a plugin that refuses because of what it knows from before is told to forget that, and asked once more.
func TestLeftover(t *testing.T) {
	s := standing(t)
	spec := s.spec("0.3.1")
	fail := filepath.Join(s.dir, "fail")
	if err := os.WriteFile(fail, []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.apply(t, resource.Create, spec); err != nil {
		t.Fatal(err)
	}
	if asked := s.asked(t); asked != "ADD,DEL,ADD" {
		t.Errorf("asked %s", asked)
	}
	if is, asked := s.read(t), s.asked(t); is != spec.Fingerprint() || asked != "" { // its version has no CHECK
		t.Errorf("read %q by %q", is, asked)
	}
	if err := os.WriteFile(fail, []byte("1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.apply(t, resource.Update, spec); err == nil || !strings.Contains(err.Error(), "no more addresses") {
		t.Errorf("the plugin's words are lost: %v", err)
	}
	if is := s.read(t); is == spec.Fingerprint() {
		t.Error("what is not there counts as attached")
	}
	if err := cni.DetachAll(s.owner); err != nil {
		t.Error(err)
	}
}

// TestHalf: where one plugin of two has made what it makes, and the other not, it is not attached, though nobody can be asked (CHECK).
func TestHalf(t *testing.T) {
	s := standing(t)
	spec := s.spec("0.3.1")
	spec.Network = strings.ReplaceAll(spec.Network, `{"type": "fake"}`, `{"type": "fake"}, {"type": "second"}`)
	second := func(add string) {
		t.Helper()
		text := "#!/bin/sh\ncase $CNI_COMMAND in ADD) " + add + ";; esac\n"
		if err := os.WriteFile(filepath.Join(s.dir, "second"), []byte(text), 0o755); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	second(`echo '{"cniVersion": "0.3.1", "code": 100, "msg": "no more ports"}'; exit 1`)
	if err := s.apply(t, resource.Create, spec); err == nil || strings.Count(err.Error(), "no more ports") != 1 {
		t.Errorf("%v", err)
	}
	if asked, is := s.asked(t), s.read(t); asked != "ADD,DEL,ADD,DEL" || !strings.Contains(is, "is not there") {
		t.Errorf("asked %s, read %q of what the second plugin failed to make", asked, is)
	}
	second("cat")
	if err := s.apply(t, resource.Update, spec); err != nil {
		t.Fatal(err)
	}
	if is := s.read(t); is != spec.Fingerprint() {
		t.Errorf("read %q of what is whole", is)
	}
	if err := os.RemoveAll(filepath.Join(rundir.Of(s.owner), "cni")); err != nil { // as before the second plugin has ended
		t.Fatal(err)
	}
	if is := s.read(t); !strings.HasPrefix(is, "not all of the network's plugins") {
		t.Errorf("read %q of what was half made", is)
	}
	if err := os.Remove(filepath.Join(s.dir, "second")); err != nil {
		t.Fatal(err)
	}
	if err := cni.DetachAll(s.owner); err == nil || !strings.Contains(err.Error(), "put plugin second back in "+s.dir+", or, to leave what it made as it is, remove "+rundir.Of(s.owner)) {
		t.Errorf("a plugin that has gone: %v", err)
	}
	second("cat")
	left := filepath.Join(rundir.Of(s.owner), "cni", "now-"+s.name+":1") // by a check that was killed
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := cni.DetachAll(s.owner); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("left %s", left)
	}
}

// TestMissing: a plugin that is not there is named, with where it was looked for.
func TestMissing(t *testing.T) {
	s := standing(t)
	spec := s.spec("1.0.0")
	spec.Network = strings.ReplaceAll(spec.Network, "fake", "bridge")
	if err := (cni.Kind{}).Possible([]resource.Spec{spec}); err == nil || !strings.Contains(err.Error(), "there is no plugin bridge in "+s.dir) {
		t.Error(err)
	}
	spec = s.spec("9.9.9")
	if err := (cni.Kind{}).Possible([]resource.Spec{spec}); err == nil || !strings.Contains(err.Error(), "fake does not support config version") {
		t.Error(err)
	}
}

// TestReaddressed: a bridge of the host's has another address when it has another port, which is nothing to an attachment; that it is
// gone is.
func TestReaddressed(t *testing.T) {
	s := standing(t)
	nstest.Root(t)
	spec, bridge := s.spec("1.0.0"), nstest.Device(t)
	script := `#!/bin/sh
case $CNI_COMMAND in
ADD)
	nsenter --net="$CNI_NETNS" ip link add "$CNI_IFNAME" type bridge
	echo "{\"cniVersion\": \"1.0.0\", \"interfaces\": [{\"name\": \"BRIDGE\", \"mac\": \"02:00:00:00:00:09\"}, {\"name\": \"eth0\", \"mac\": \"02:00:00:00:00:07\", \"sandbox\": \"$CNI_NETNS\"}]}"
	;;
CHECK)
	is=$(ip -o link show BRIDGE 2>/dev/null | sed 's/.*ether \([0-9a-f:]*\).*/\1/')
	tr -d ' \n' | grep -q "\"mac\":\"$is\",\"name\":\"BRIDGE\"" || { echo '{"cniVersion": "1.0.0", "code": 101, "msg": "MAC does not match"}'; exit 1; }
	;;
esac
`
	if err := os.WriteFile(filepath.Join(s.dir, "fake"), []byte(strings.ReplaceAll(script, "BRIDGE", bridge)), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	host := nstest.Open(t, netns.Host)
	made := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: bridge, HardwareAddr: []byte{2, 0, 0, 0, 0, 1}}}
	if err := host.LinkAdd(made); err != nil {
		t.Fatal(err)
	}
	gone := func() { _ = host.LinkDel(made) }
	t.Cleanup(gone)
	if err := s.apply(t, resource.Create, spec); err != nil {
		t.Fatal(err)
	}
	if is := s.read(t); is != spec.Fingerprint() {
		t.Errorf("read %q of a bridge that has another address", is)
	}
	gone()
	if is := s.read(t); !strings.Contains(is, "MAC does not match") {
		t.Errorf("read %q of a bridge that is gone", is)
	}
	if err := cni.DetachAll(s.owner); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(rundir.Of(s.owner), "cni", "now-*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

package run_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// replaced are edits by which functions become others under their names: alone, with replicas, on paths and where ways part, together with others that come
// and go, and back to what they were while that is there yet.
var replaced = []string{
	"functions: [{name: b, kind: forward}]\n", // which is counted at, and stays
	"functions: [{name: a, kind: forward}, {name: b, kind: forward}]\n",
	"functions: [{name: a, kind: firewall}, {name: b, kind: forward}]\n",
	"functions: [{name: a, kind: forward}, {name: x, kind: forward}, {name: b, kind: forward}, {name: c, kind: firewall}]\n",
	"functions: [{name: c, kind: shaper, shaper: {rate: 10Gbit}}, {name: b, kind: forward}, {name: a, kind: firewall}]\n",
	"functions: [{name: a, kind: firewall, replicas: 2}, {name: b, kind: forward}]\n",
	"functions: [{name: a, kind: forward, replicas: 2}, {name: count, kind: counter, runtime: inline}, {name: b, kind: forward}]\n",
	"functions: [{name: a, kind: firewall}, {name: count, kind: counter, runtime: netns}, {name: b, kind: forward}]\n",
	"functions: [{name: a, kind: firewall, branches: [{mark: 7, to: b}], next: c}, {name: c, kind: forward}, {name: b, kind: forward}]\n",
	"functions: [{name: a, kind: forward, branches: [{mark: 7, to: b}], next: c}, {name: c, kind: firewall}, {name: b, kind: forward}]\n",
	"functions: [{name: a, kind: forward}, {name: b, kind: forward}]\nclassifier: {otherwise: chain, rules: [{name: some, match: {protocol: udp, source_port: 1-20000}, functions: [a]}]}\n",
	"functions: [{name: a, kind: firewall}, {name: b, kind: forward}]\nclassifier: {otherwise: chain, rules: [{name: some, match: {protocol: udp, source_port: 1-20000}, functions: [b, a]}]}\n",
}

// TestReplacedUnderLoad of the built-in generator: functions that become others under their names lose none of its packets, nor does any come twice.
func TestReplacedUnderLoad(t *testing.T) {
	losesNone(t, edited{wiring: "wiring: ebpf\nebpf: {idle: 500ms, census: 250ms}\n", edits: replaced, load: trial.Condition{OfferedPps: 20000, Flows: 2000, DurationS: 64}})
}

// TestReplacedKeepOrder where flows stay with what was there when they began.
func TestReplacedKeepOrder(t *testing.T) {
	nstest.Require(t, feature.QdiscTBF)
	random := trial.Condition{OfferedPps: 2000, Flows: 1, DurationS: 12}
	random.FrameSize, random.Pattern = 1518, "poisson"
	losesNone(t, edited{wiring: "wiring: ebpf\nebpf: {idle: 1m, census: 250ms}\n", stays: true, load: random, edits: []string{
		"functions: [" + waits + ", {name: a, kind: forward}, {name: b, kind: forward}]\n",
		"functions: [{name: slow, kind: forward}, {name: a, kind: firewall}, {name: b, kind: forward}]\n",
		"functions: [{name: slow, kind: firewall}, {name: b, kind: firewall}, {name: a, kind: forward}]\n",
	}})
}

// TestReplacedKeepOrderOnPaths of a classifier, too.
func TestReplacedKeepOrderOnPaths(t *testing.T) {
	nstest.Require(t, feature.QdiscTBF)
	random := trial.Condition{OfferedPps: 2000, Flows: 1, DurationS: 12}
	random.FrameSize, random.Pattern = 1518, "poisson"
	some := "classifier: {otherwise: chain, rules: [{name: some, match: {protocol: tcp}, functions: [a]}]}\n"
	losesNone(t, edited{wiring: "wiring: ebpf\nebpf: {idle: 1m, census: 250ms}\n", stays: true, load: random, edits: []string{
		"functions: [" + waits + ", {name: a, kind: forward}, {name: b, kind: forward}]\n" + some,
		"functions: [{name: slow, kind: forward}, {name: a, kind: firewall}, {name: b, kind: forward}]\n" + some,
		"functions: [{name: slow, kind: firewall}, {name: a, kind: forward}, {name: b, kind: forward}]\n" + some,
	}})
}

// slowly is a program that passes packets on, which begins to after some seconds.
func slowly(t *testing.T, seconds string) string {
	return relayer(t, wire, transparent, "sh", "-c", `sleep "$0" && exec "$@"`, seconds)
}

// TestReplacedPrograms of functions that packets go through: none is lost while the next one begins.
func TestReplacedPrograms(t *testing.T) {
	edits := []string{"functions: [{name: a, kind: forward}]\n"}
	for _, seconds := range []string{"0.5", "1", "1.5"} {
		edits = append(edits, "functions: [{name: a, kind: forward}, {name: wire, "+slowly(t, seconds)+"}]\n")
	}
	losesNone(t, edited{wiring: "wiring: ebpf\nebpf: {idle: 500ms, census: 250ms}\n", edits: edits, load: trial.Condition{OfferedPps: 1000, Flows: 2000, DurationS: 12}})
}

// addressesAt the interfaces of a node.
func addressesAt(t *testing.T, chain, node string) (all []string) {
	t.Helper()
	out, err := exec.Command("ip", "-n", namespace.Name(chain, node), "-br", "address", "show", "up").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if f := strings.Fields(line); strings.HasPrefix(f[0], "eth") {
			all = append(all, strings.Join(f[2:], " "))
		}
	}
	return all
}

// namespaces of a chain.
func namespaces(t *testing.T, chain string) int {
	t.Helper()
	all, err := deploy.Nodes(chain)
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestReplaced is a function by its name, whatever its node is called, with the addresses that it had, and what was there is removed when no flow is left to it.
func TestReplaced(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	const settings = "wiring: ebpf\nebpf: {idle: 300ms, census: 100ms}\n"
	kind := func(kind string) string {
		return settings + "functions: [{name: a, kind: " + kind + "}, {name: b, kind: forward}]\n"
	}
	b := newBed(t, kind("forward"))
	b.up(run.UpOptions{})
	before := addressesAt(t, b.name(), "a")
	for _, want := range []struct{ kind, node string }{{"firewall", "a.2"}, {"forward", "a"}, {"firewall", "a.2"}} {
		p := b.edited(kind(want.kind))
		if len(p.Replaces) != 1 || p.Replaces[0].Function != "a" || p.Replaces[0].Node != want.node {
			t.Fatalf("%+v", p.Replaces)
		}
		if got := addressesAt(t, b.name(), want.node); !slices.Equal(got, before) {
			t.Errorf("%s has %v, and what was there had %v", want.node, got, before)
		}
		b.unchanged()
		b.until("what was there is gone", func() bool { return namespaces(t, b.name()) == 5 })
		if e := b.explained("udp", "client", "server:9"); strings.Contains(strings.Join(e.Reasons, "\n"), "a.2") && want.node != "a.2" {
			t.Errorf("%q", e.Reasons)
		}
		if c, err := run.Captured(p, "a"); err != nil || len(c.Points) != 4 {
			t.Errorf("%v, %+v", err, c.Points)
		}
	}
	p := b.edited(strings.Replace(kind("shaper"), "kind: shaper", "kind: shaper, replace: in-place, shaper: {rate: 1Gbit}", 1))
	if want := "function a was a firewall and becomes a shaper where it is, so that packets are lost meanwhile"; len(p.Replaces) > 0 || !strings.Contains(strings.Join(p.Warnings, "\n"), want) {
		t.Errorf("%+v, %q", p.Replaces, p.Warnings)
	}
	b.unchanged()
}

// TestReplacedByWhatIsNotReady goes on as it was, again and again, until something comes that is.
func TestReplacedByWhatIsNotReady(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	file := func(program string) string {
		return "wiring: ebpf\nebpf: {idle: 300ms, census: 100ms}\nfunctions: [{name: wire, " + program + "}, {name: b, kind: forward}]\n"
	}
	b := newBed(t, file(slowly(t, "0")))
	b.up(run.UpOptions{Wait: true})
	ill := strings.Replace(slowly(t, "60"), "timeout: 1m", "timeout: 500ms", 1)
	for range 2 {
		b.chain = plantest.Chain(t, b.name(), file(ill))
		_, _, err := b.edit(t.Context(), run.UpOptions{})
		if want := "function wire is not ready, so that packets go on as they went before it came: its program is not ready after 500ms"; err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("%v", err)
		}
		if got := b.numbered("forward", 0, 50); len(got) != 50 {
			t.Errorf("of 50 packets came %d", len(got))
		}
	}
	b.edited(file(slowly(t, "0.2")))
	if got := b.numbered("forward", 0, 50); len(got) != 50 {
		t.Errorf("of 50 packets came %d", len(got))
	}
	b.until("what was there is gone", func() bool { return namespaces(t, b.name()) == 5 })
}

// TestFailsWhileOthersCome: a function that fails while another, which takes its time, is put in is led past at once.
func TestFailsWhileOthersCome(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	gone := filepath.Join(t.TempDir(), "gone")
	bad := relayer(t, wire, transparent, "sh", "-c", `test ! -e "$0" && exec "$@"`, gone)
	file := func(more string) string {
		return "wiring: ebpf\nfunctions:\n- {name: bad, onFailure: bypass, " + bad + "}\n" + more + "- {name: b, kind: forward}\n"
	}
	b := newBed(t, file(""))
	b.up(run.UpOptions{Wait: true})
	b.until("it is watched, and well", b.well)
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	b.chain = plantest.Chain(t, b.name(), file("- {name: wire, "+slowly(t, "5")+"}\n"))
	ended := make(chan error, 1)
	go func() {
		_, _, err := b.edit(t.Context(), run.UpOptions{})
		ended <- err
	}()
	b.until("it is made", func() bool { return netns.Exists(namespace.Name(b.name(), "wire")) })
	if err := errors.Join(os.WriteFile(gone, nil, 0o600), deploy.Harm(p, api.Harm{What: api.HarmProgram, Node: "bad"})); err != nil {
		t.Fatal(err)
	}
	b.until("it has failed", b.failing)
	select {
	case err := <-ended:
		t.Fatalf("the edit was over before it failed: %v", err)
	default:
	}
	if got := b.numbered("forward", 0, 20); len(got) != 20 {
		t.Errorf("of 20 packets %d were led past it", len(got))
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := b.numbered("forward", 0, 20); len(got) != 20 {
		t.Errorf("of 20 packets %d were led past it when another had come", len(got))
	}
}

// TestReplacedIsTakenBack: after an edit that came to no end, what was there before it goes on, and no other is made of it.
func TestReplacedIsTakenBack(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	file := func(program string) string {
		return "wiring: ebpf\nebpf: {idle: 300ms, census: 100ms}\nfunctions: [{name: wire, " + program + "}, {name: b, kind: forward}]\n"
	}
	good, ill := file(slowly(t, "0")), file(strings.Replace(slowly(t, "60"), "timeout: 1m", "timeout: 300ms", 1))
	b := newBed(t, good)
	b.up(run.UpOptions{Wait: true})
	before := programOf(t, b.name(), "wire")
	for range 2 {
		b.chain = plantest.Chain(t, b.name(), ill)
		if _, _, err := b.edit(t.Context(), run.UpOptions{}); err == nil {
			t.Fatal("what is never ready came")
		}
		if p := b.edited(good); len(p.Replaces) > 0 || len(p.Instances) > 0 {
			t.Errorf("%+v, %v", p.Replaces, p.Instances)
		}
		if is := programOf(t, b.name(), "wire"); is.PID != before.PID {
			t.Errorf("its program was %+v, and is %+v", before, is)
		}
		b.unchanged()
	}
	b.until("what never came is gone", func() bool { return namespaces(t, b.name()) == 5 })
}

// programOf a node.
func programOf(t *testing.T, chain, node string) process.Status {
	t.Helper()
	programs, err := process.Statuses(chain)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(programs, func(s process.Status) bool { return s.Node == node })
	if i < 0 {
		t.Fatalf("%s runs none: %+v", node, programs)
	}
	return programs[i]
}

// TestReplacedAsNeeded: the same file, however it is written, changes nothing; who waits for what is replaced goes on; a program that does its work once
// comes when it has; and one that has ended is replaced where it is, so that no flow stays with it.
func TestReplacedAsNeeded(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	file := func(db, kind string) string {
		return "wiring: ebpf\nebpf: {idle: 300ms, census: 100ms}\nfunctions:\n" +
			"- {name: db, kind: command, replace: beside, command: {args: [sh, -c, '" + db + "; exec sleep 1000'], env: {}, after: [], scratch: [], files: {}}}\n" +
			"- {name: web, kind: command, command: {args: [sleep, '1000'], after: [db]}}\n- {name: once, " + kind + "}\n"
	}
	b := newBed(t, file("true", "kind: forward"))
	b.up(run.UpOptions{Wait: true})
	b.unchanged()
	web := programOf(t, b.name(), "web")
	if p := b.edited(file(": another", "kind: forward")); len(p.Replaces) != 1 {
		t.Errorf("%+v", p.Replaces)
	}
	if is := programOf(t, b.name(), "web"); is.PID != web.PID {
		t.Errorf("who waits for it was %+v, and is %+v", web, is)
	}
	b.unchanged()
	if p := b.edited(file(": another", "kind: command, command: {args: ['true'], restart: never}")); len(p.Replaces) != 1 {
		t.Errorf("%+v", p.Replaces)
	}
	b.unchanged()
	if p := b.edited(file(": another", "kind: forward")); len(p.Replaces) != 1 {
		t.Errorf("what has done its work is replaced where it is: %+v", p.Replaces)
	}
	b.until("the names of what is gone are", func() bool {
		_, err := os.Stat(filepath.Join(deploy.StateDir(b.name()), "db.etc-hosts"))
		return errors.Is(err, fs.ErrNotExist)
	})
}

// TestReplacedWhenDead is a program that packets go through and that has ended: no flow stays with it.
func TestReplacedWhenDead(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	file := func(program string) string {
		return "wiring: ebpf\nebpf: {idle: 300ms, census: 100ms}\nfunctions:\n- {name: wire, kind: command, command: {transparent: true, args: [sh, -c, '" + program + "']}}\n- {name: b, kind: forward}\n"
	}
	b := newBed(t, file("sleep 2; exit 3"))
	b.up(run.UpOptions{Wait: true})
	b.until("it has ended", func() bool { return programOf(t, b.name(), "wire").State == process.Waiting })
	if p := b.edited(file("exec sleep 1000")); len(p.Replaces) > 0 || len(p.Instances) > 0 {
		t.Errorf("flows would stay with what has ended: %+v, %v", p.Replaces, p.Instances)
	}
	b.unchanged()
}

// TestReplacedBesideOthers that are new too: it is awaited by whatever packets would come to it.
func TestReplacedBesideOthers(t *testing.T) {
	losesNone(t, edited{wiring: "wiring: ebpf\nebpf: {idle: 500ms, census: 250ms}\n", edits: []string{
		"functions: [{name: a, kind: forward}]\n",
		"functions: [{name: a, kind: forward}, {name: x, kind: forward}, {name: wire, " + slowly(t, "1") + "}]\n",
	}, load: trial.Condition{OfferedPps: 1000, Flows: 2000, DurationS: 8}})
}

// TestReplacedThoughItLeaves: what comes under the name of a function that is there yet for flows from before is that function, if it is the same, and is
// put in beside it, if it is not.
func TestReplacedThoughItLeaves(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	const settings = "wiring: ebpf\nebpf: {idle: 1m, census: 500ms}\n"
	b := newBed(t, settings+"functions: [{name: b, kind: forward}, {name: a, kind: forward}]\n")
	b.up(run.UpOptions{})
	defer b.trickle(b.planned())()
	for _, c := range []struct{ kind, node string }{{"forward", "a"}, {"firewall", "a.2"}} {
		b.edited(settings + "functions: [{name: b, kind: forward}]\n")
		if !netns.Exists(namespace.Name(b.name(), "a")) {
			t.Fatal("no flow stays with what is taken out")
		}
		p := b.edited(settings + "functions: [{name: b, kind: forward}, {name: a, kind: " + c.kind + "}]\n")
		if got := p.Functions()[1].Name; got != c.node {
			t.Errorf("a %s comes as %s, not as %s", c.kind, got, c.node)
		}
	}
}

package deploy_test

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
)

// up makes the plan real and gives what that changed, each as "operation id"
// without the chain's name. Replicas that are taken out are left no flow.
func up(t testing.TB, p *plan.Plan) []string {
	t.Helper()
	changes, left := raise(t, p)
	if left > 0 {
		moved, err := (&deploy.Deployer{Move: true}).Up(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, changed(p, moved)...)
	}
	return changes
}

// lets is up that leaves replicas that are taken out the flows that they have.
func lets(t testing.TB, p *plan.Plan) []string {
	t.Helper()
	changes, _ := raise(t, p)
	return changes
}

// raise is up that leaves replicas that are taken out the flows that they have, and tells how many.
func raise(t testing.TB, p *plan.Plan) (changes []string, left int) {
	t.Helper()
	d := &deploy.Deployer{}
	all, err := d.Up(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return changed(p, all), d.Left
}

func changed(p *plan.Plan, changes []resource.Change) []string {
	var out []string
	for _, c := range changes {
		out = append(out, string(c.Op)+" "+strings.ReplaceAll(c.ID, "nfchain."+p.Chain+".", ""))
	}
	slices.Sort(out)
	return out
}

// unchanged fails if a second pass finds anything to do.
func unchanged(t testing.TB, p *plan.Plan) {
	t.Helper()
	if again := lets(t, p); len(again) > 0 {
		t.Errorf("a second pass changed %d: %v", len(again), again)
	}
}

// downAfter removes the chain when the test ends.
func downAfter(t testing.TB, owner string) {
	t.Helper()
	t.Cleanup(func() { down(t, owner) })
}

func down(t testing.TB, owner string) {
	t.Helper()
	d := &deploy.Deployer{}
	if _, err := d.Down(context.Background(), owner); err != nil {
		t.Error(err)
	}
}

// crosses sends a ping over the chain from both ends, in every family.
func crosses(t testing.TB, p *plan.Plan) {
	t.Helper()
	for _, way := range [][2]plan.Node{{p.Client(), p.Server()}, {p.Server(), p.Client()}} {
		for _, to := range addresses(p, way[0].Name, way[1].Name) {
			if out, err := ping(way[0].Namespace, to); err != nil {
				t.Errorf("%s does not reach %s at %s: %v\n%s", way[0].Name, way[1].Name, to, err, out)
			}
		}
	}
}

// addresses by which one node reaches another.
func addresses(p *plan.Plan, from, to string) (list []netip.Addr) {
	for _, h := range p.Hosts(from) {
		if h.Name == to {
			list = append(list, h.Address)
		}
	}
	return list
}

// ping sends a request a second until one is answered; a chain that has just come up is
// whole at once, but a loaded machine may be slow to answer.
func ping(ns string, to netip.Addr) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ip", "netns", "exec", ns, "ping", "-n", "-c", "1", "-w", "20", to.String()).CombinedOutput()
	return string(out), err
}

// sh runs a shell line and gives what it prints. Complaints are none of it: ip(8) makes one
// when another test makes a namespace at that moment.
func sh(t testing.TB, line string) string {
	t.Helper()
	var out, complaints strings.Builder
	cmd := exec.Command("sh", "-c", line)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", line, err, out.String(), complaints.String())
	}
	return out.String()
}

// spec joins functions, one a line as YAML flow mappings, to a chain's spec.
func spec(functions ...string) string {
	if len(functions) == 0 {
		return "functions: []\n"
	}
	return "functions:\n- " + strings.Join(functions, "\n- ") + "\n"
}

const (
	firewall = "{name: fw, kind: firewall, firewall: {rules: {generate: 10, stateful: true, list: [{protocol: tcp, destination_port: 1-1023, action: drop, comment: low ports}]}}}"
	iptables = "{name: old, kind: firewall, firewall: {backend: iptables, rules: {generate: 10, stateful: true, list: [{source: 203.0.113.0/24, action: drop}]}}}"
	shaper   = "{name: shape, kind: shaper, shaper: {rate: 1Gbit}}"
	bucket   = "{name: bucket, kind: shaper, shaper: {discipline: tbf, rate: 40Gbit}}"
	classes  = `{name: classes, kind: shaper, shaper: {rate: 10Gbit, classes: [
    {name: web, rate: 1Gbit, match: {protocol: tcp, destination_port: 80}},
    {name: voice, rate: 1Mbit, ceil: 10Mbit, priority: 1, match: {protocol: udp, source_port: 5000-6000}}]}}`
)

func forward(name string) string { return fmt.Sprintf("{name: %s, kind: forward}", name) }

// heals breaks a chain by a shell line and brings it up again, which touches nothing but
// resources of these kinds.
func heals(t *testing.T, p *plan.Plan, line string, kinds []string) {
	t.Helper()
	sh(t, line)
	changes := up(t, p)
	if len(changes) == 0 {
		t.Errorf("%s: not seen", line)
	}
	for _, c := range changes {
		if kind := strings.FieldsFunc(c, func(r rune) bool { return r == ' ' || r == ':' })[1]; !slices.Contains(kinds, kind) {
			t.Errorf("%s: unnecessary: %s", line, c)
		}
	}
	crosses(t, p)
	unchanged(t, p)
	if t.Failed() {
		t.Fatalf("after %q", line)
	}
}

// againAndAgain does something until it is stopped, or fails, and waits before each time. To stop it tells what failed.
func againAndAgain(every time.Duration, do func() error) (stop func() error) {
	over, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-over:
				ended <- nil
				return
			case <-time.After(every):
			}
			if err := do(); err != nil {
				ended <- err
				return
			}
		}
	}()
	return func() error { close(over); return <-ended }
}

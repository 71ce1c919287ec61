package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
)

// TestScriptMakesTheSame runs a plan's shell script for real and then finds nothing
// to change.
func TestScriptMakesTheSame(t *testing.T) {
	needs(t)
	left, right := nstest.Namespace(t), nstest.Namespace(t)
	for name, s := range map[string]string{
		"forward":             spec(forward("a")),
		"nothing between":     spec(),
		"nftables":            spec(firewall),
		"iptables":            spec(iptables),
		"dropping":            spec("{name: fw, kind: firewall, firewall: {policy: drop, rules: {list: [{protocol: icmp, action: accept}, {protocol: icmpv6, action: accept}]}}}"),
		"one direction":       spec("{name: fw, kind: firewall, direction: forward, firewall: {policy: drop, rules: {list: [{state: [new, established], action: accept}]}}}"),
		"shapers":             spec(shaper, bucket, classes),
		"1 Tbit":              spec("{name: big, kind: shaper, shaper: {rate: 1Tbit}}", "{name: tbf, kind: shaper, shaper: {rate: 1Tbit, discipline: tbf}}"),
		"40 functions":        plantest.Forwards(40),
		"IPv4 only":           "addresses: {ipv6: none}\n" + spec(forward("a"), classes),
		"IPv6 only":           "addresses: {ipv4: none}\n" + spec(forward("a"), firewall),
		"tuned":               tuned("gro: true, tso: false, gso_max_size: 100000, rps: '0', threaded_napi: true, tcp_rmem: [4096, 65536, 1MiB], tcp_window_scaling: false"),
		"bridges":             "wiring: bridge\n" + spec(forward("a")),
		"one bridge":          "wiring: bridge\nbridge: {per: chain, snooping: true, forwarding: learning, ageing: 10s}\n" + spec(forward("a")),
		"one arm":             bridged(oneArm, spec(forward("a"), firewall)),
		"jumbo":               "mtu: 9000\n" + spec(forward("a")),
		"existing namespaces": "endpoints: [{name: l, namespace: " + left + "}, {name: r, namespace: " + right + "}]\n" + spec(firewall, shaper),
	} {
		t.Run(name, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			p := planned(t, owner, s)
			runScript(t, p)
			unchanged(t, p)
			crosses(t, p)
		})
	}
}

func runScript(t *testing.T, p *plan.Plan) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "chain.sh")
	if err := os.WriteFile(file, []byte(p.Script()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("sh", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestScriptOfStandaloneFunction has a chain go through a function of its own file.
func TestScriptOfStandaloneFunction(t *testing.T) {
	needs(t)
	owner, alone := nstest.Owner(t), nstest.Owner(t)
	f := plantest.Function(t, alone, "kind: shaper\nshaper: {rate: 1Gbit, classes: [{name: web, rate: 1Mbit, match: {protocol: tcp, destination_port: 80}}]}\n")
	own, err := plan.MakeFunction(f, plantest.Catalogue(), plan.Facts{})
	if err != nil {
		t.Fatal(err)
	}
	downAfter(t, alone)
	downAfter(t, owner)
	runScript(t, own)
	unchanged(t, own)
	p := planned(t, owner, spec(forward("a"), "{name: shared, ref: "+alone+"}"), f)
	runScript(t, p)
	unchanged(t, p)
	unchanged(t, own)
	crosses(t, p)
	down(t, owner)
	unchanged(t, own)
	if names, err := deploy.Nodes(alone); err != nil || len(names) != 1 {
		t.Error("the standalone function went with the chain:", names, err)
	}
}

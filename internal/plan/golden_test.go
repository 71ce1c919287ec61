package plan_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
)

var update = flag.Bool("update", false, "write the golden files")

// smallest is the chain of the README.
const smallest = `wiring: veth
functions:
- {name: fw, kind: firewall, firewall: {rules: {generate: 100, stateful: true}}}
- {name: shape, kind: shaper, shaper: {rate: 10Gbit}}
`

const classes = `functions:
- name: shape
  kind: shaper
  shaper:
    rate: 10Gbit
    classes:
    - {name: web, rate: 1Gbit, match: {protocol: tcp, destination_port: 80}}
    - {name: voice, rate: 1Mbit, ceil: 10Mbit, priority: 1, match: {protocol: udp, source_port: 5000-6000}}
`

const directions = `functions:
- {name: there, kind: firewall, direction: forward, firewall: {policy: drop, rules: {list: [{source: 192.0.2.0/24, action: accept, comment: lab}]}}}
- {name: back, kind: shaper, direction: reverse, shaper: {discipline: tbf, rate: 100Mbit}}
- {name: old, kind: firewall, direction: reverse, firewall: {backend: iptables, rules: {generate: 2}}}
`

const tuned = `functions: [{name: a, kind: forward}]
tuning: {tso: false, gro: true, gso_max_size: 185000, rx_queues: 2, rps: "1,0", threaded_napi: true, tcp_rmem: [4KiB, 1MiB, 16MiB], tcp_window_scaling: false}
`

const everywhere = `functions:
- {name: fw, kind: firewall}
everywhere:
- {kind: firewall, except: [client], firewall: {hooks: [forward, input], rules: {total: 3}}}
- {kind: shaper, shaper: {rate: 1Tbit, burst: max}}
`

const group = `functions:
- {name: a, kind: forward, group: box}
- {name: limit, kind: shaper, direction: reverse, group: box, shaper: {rate: 1Gbit}}
- {name: in, kind: nat, group: box, nat: {destination: {protocol: tcp, port: 80}}}
- {name: fw, kind: firewall, group: box, firewall: {policy: drop, rules: {list: [{protocol: tcp, action: accept}]}}}
- {name: old, kind: firewall, group: box, firewall: {backend: iptables}}
- {name: there, kind: firewall, direction: forward, group: box}
- {name: web, kind: command, group: box, command: {args: [sleep, inf]}}
- {name: last, kind: forward}
`

const branches = `wiring: ebpf
functions:
- name: tell
  kind: forward
  branches: [{mark: 1, to: shape}, {mark: 0x2, mask: 0xff, to: log}, {mark: 3, to: server}]
  next: out
- {name: shape, kind: shaper, next: out, shaper: {rate: 1Gbit}}
- {name: log, kind: bridge}
- {name: count, kind: counter, runtime: inline}
- {name: hop, kind: forward}
- {name: out, kind: forward}
`

const headedWays = `wiring: ebpf
ebpf: {service_path: 100}
functions:
- {name: count, kind: counter, runtime: inline}
- {name: parts, kind: command, encapsulation: nsh, branches: [{mark: 1, to: side}, {mark: 2, to: last}], command: {args: [relay]}}
- {name: plain, kind: forward, next: joins}
- {name: side, kind: command, encapsulation: nsh, command: {args: [relay]}}
- {name: log, kind: bridge}
- {name: joins, kind: command, encapsulation: nsh, command: {args: [relay]}}
- {name: last, kind: forward}
`

// headedCrossing is where marks and a classifier lead to functions that get headers.
const headedCrossing = `wiring: ebpf
ebpf: {service_path: 100}
functions:
- {name: parts, kind: command, encapsulation: nsh, branches: [{mark: 1, to: side}], command: {args: [relay]}}
- {name: plain, kind: forward, next: joins}
- {name: side, kind: command, encapsulation: nsh, command: {args: [relay]}}
- {name: log, kind: bridge}
- {name: joins, kind: command, encapsulation: nsh, command: {args: [relay]}}
classifier:
  rules:
  - {name: marked, match: {protocol: udp}, functions: [parts, plain, side, log, joins]}
  - {name: other, match: {dscp: ef}, functions: [joins, side]}
`

const branchedPaths = `wiring: ebpf
functions:
- {name: tell, kind: forward, branches: [{mark: 1, to: check}], next: out}
- {name: check, kind: firewall, onFailure: block}
- {name: web, kind: command, command: {args: [relay]}}
- {name: meter, kind: forward}
- {name: out, kind: forward}
classifier:
  rules:
  - {name: marked, match: {protocol: udp}, functions: [tell, check, web, meter, out]}
  - {name: metered, match: {dscp: ef}, functions: [out, meter]}
  - {name: watched, match: {source: 192.0.2.0/24}, functions: [meter], symmetric: false}
`

const dealtWays = `wiring: ebpf
functions:
- {name: tell, kind: forward, replicas: 2, next: out, branches: [{mark: 1, to: check}]}
- {name: check, kind: firewall, replicas: 3, weights: [2, 1, 1], onFailure: replica}
- {name: log, kind: bridge}
- {name: out, kind: forward, replicas: 2}
`

// TestGolden compares plans with files, as text, JSON and shell commands.
func TestGolden(t *testing.T) {
	shared := plantest.Function(t, "filter", "kind: firewall\nfirewall: {policy: drop}\n")
	facts := plan.Facts{Functions: map[string]api.FunctionBody{"filter": shared.Spec}, CPUs: upTo(4)}
	facts.Files = map[string]string{"/lab.conflist": `{"cniVersion": "1.0.0", "name": "lab", "plugins": [{"type": "bridge"}, {"type": "firewall"}]}`}
	for name, spec := range map[string]string{
		"smallest":   smallest,
		"classes":    classes,
		"directions": directions,
		"everywhere": everywhere,
		"tuned":      tuned,
		"standalone": "functions:\n- {name: a, kind: forward}\n- {name: fw, ref: filter}\n",
		"tenant":     "tenant: shop\nfunctions:\n- {name: a, kind: forward}\n- {name: fw, ref: filter}\n",
		"existing":   "endpoints: [{name: l, namespace: left}, {name: r, namespace: right}]\nfunctions: [{name: a, kind: forward}]\n",
		"ipv4":       "addresses: {ipv6: none}\nfunctions: [{name: a, kind: forward}]\n",
		"ipv6":       "addresses: {ipv4: none}\nfunctions: [{name: a, kind: forward}]\n",
		"ovs":        "wiring: ovs\novs: {datapath: netdev, switches: 2}\nfunctions: [{name: a, kind: forward}]\n",
		"ovsone":     "wiring: ovs\novs: {datapath: netdev, per: chain, ports: internal}\nfunctions: [{name: a, kind: forward}]\n",
		"ovskernel":  "wiring: ovs\novs: {datapath: system, ports: internal}\nfunctions: [{name: a, kind: forward}]\n",
		"ovsbound":   "wiring: ovs\novs: {datapath: netdev}\nplacement: {load: exclusive}\nfunctions: [{name: a, kind: forward}]\n",
		"forty":      plantest.Forwards(40),
		"bridge":     "wiring: bridge\nfunctions: [{name: a, kind: forward}]\n",
		"pipeline":   "wiring: bridge\nbridge: {per: ends}\nfunctions: [{name: a, kind: forward}, {name: b, kind: forward}]\n",
		"outside":    "wiring: bridge\nbridge: {per: chain}\noutside: true\nfunctions: [{name: a, kind: forward}]\n",
		"ovsoutside": "wiring: ovs\novs: {datapath: netdev, per: chain}\noutside: true\nfunctions: [{name: a, kind: forward}]\n",
		"oncard":     "wiring: macvlan\noutside: true\nfunctions: [{name: a, kind: forward}]\n",
		"onearm":     oneArm + "functions: [{name: a, kind: forward}]\n",
		"impair":     "functions:\n- {name: bad, kind: impair, direction: forward, impair: {loss: {every: 1000}, reorder: {ratio: 0.01, by: 3}, delay: 5ms, jitter: 1ms}}\n",
		"netem":      "functions:\n- {name: bad, kind: impair, impair: {backend: netem, loss: {ratio: 0.001}, duplicate: {ratio: 0.5}, delay: 5ms, jitter: 1ms}}\n",
		"nat":        "functions:\n- {name: a, kind: forward}\n- {name: nat, kind: nat, nat: {source: {masquerade: true}, destination: {protocol: tcp, port: 80, to_port: 8080}}}\n- {name: b, kind: forward}\n",
		"publicnat":  "functions:\n- {name: a, kind: forward}\n- {name: nat, kind: nat, nat: {source: {addresses: [203.0.113.1]}, destination: {addresses: [203.0.113.2, \"2001:db8::2\"]}}}\n- {name: b, kind: forward}\n",
		"balance":    "endpoints: [{name: client}, {name: server, addresses: [203.0.113.1, 203.0.113.2]}]\nfunctions:\n- {name: a, kind: forward}\n- {name: lb, kind: loadbalancer}\n",
		"macvlan":    "wiring: macvlan\nfunctions: [{name: a, kind: forward}]\n",
		"ipvlan":     "wiring: ipvlan\nfunctions: []\n",
		"passthru":   "wiring: macvlan\nmacvlan: {mode: passthru}\nfunctions: [{name: a, kind: forward}]\n",
		"vepa":       "wiring: macvlan\nmacvlan: {mode: vepa}\nfunctions: [{name: a, kind: forward}]\n",
		"card":       "wiring: macvlan\nmacvlan: {parent: eth1}\novs: {per: chain}\nfunctions: [{name: a, kind: forward}]\n",
		"ebpf":       "wiring: ebpf\nfunctions: [{name: a, kind: forward}, {name: b, kind: bridge}]\n",
		"inline":     inline,
		"rowbeside":  "wiring: ebpf\nfunctions: [{name: count, kind: counter, runtime: inline}, {name: ids, kind: forward, replicas: 2}]\n",
		"rowpast":    "wiring: ebpf\nfunctions: [{name: count, kind: counter, runtime: inline}, {name: ids, kind: forward, onFailure: bypass}, {name: behind, kind: counter, runtime: inline}]\n",
		"translated": translated,
		"watched":    "wiring: ebpf\nfunctions:\n- {name: a, kind: forward, onFailure: bypass}\n- {name: b, kind: bridge, onFailure: block}\n- {name: bad, kind: impair, onFailure: bypass, impair: {backend: tun}}\n",
		"branches":   branches,
		"crossing":   branchedPaths,
		"dealtways":  dealtWays,
		"sharedout":  "wiring: ebpf\nfunctions: [{name: a, kind: forward, onFailure: bypass}, {name: b, kind: forward, replicas: 2, weights: [2, 1], onFailure: replica}]\n",
		"replicas":   "wiring: ebpf\nfunctions: [{name: a, kind: forward, replicas: 2}, {name: b, kind: bridge, replicas: 2}]\n",
		"nsh":        "wiring: ebpf\nfunctions:\n- {name: a, kind: counter, runtime: inline}\n- {name: b, kind: command, encapsulation: nsh, command: {args: [relay]}}\n- {name: c, kind: forward}\n",
		"headed":     headedPaths,
		"headedways": headedWays,
		"headedover": headedCrossing,
		"cni":        "wiring: cni\ncni: {config: /lab.conflist}\n",
		"engine":     "wiring: engine\nengine: {driver: macvlan, options: {parent: eth1}}\nendpoints:\n- {name: client, runtime: docker}\n- {name: server, runtime: docker, container: {image: \"nginx:1.25\"}, command: {ready: {tcp_port: 80}}}\n",
		"published":  "wiring: engine\nengine: {publish: \"5201-5204,80\"}\nendpoints: [{name: client}, {name: server, runtime: docker}]\n",
		"hosted":     "wiring: engine\nengine: {driver: host}\nendpoints: [{name: client}, {name: server, runtime: docker, container: {image: \"nginx:1.25\"}, command: {ready: {tcp_port: 80}}}]\n",
		"contained":  "endpoints: [{name: client, runtime: podman}, {name: server}]\nfunctions: [{name: a, kind: forward}]\n",
		"host":       "wiring: host\nfunctions: []\n",
		"pod":        "wiring: pod\nendpoints: [{name: client}, {name: server, command: {args: [sleep, inf]}}]\n",
		"podengine":  "wiring: pod\naddresses: {ipv6: none}\nendpoints:\n- {name: client, runtime: docker}\n- {name: server, runtime: docker, container: {image: \"nginx:1.25\"}, command: {ready: {tcp_port: 80}}}\n",
		"bump":       "functions:\n- {name: a, kind: forward}\n- {name: b, kind: bridge}\n- {name: c, kind: bridge}\n",
		"through":    "functions:\n- {name: a, kind: forward}\n- {name: p, kind: passthrough}\n- {name: q, kind: passthrough}\n",
		"frames":     "functions:\n- {name: a, kind: forward}\n- {name: p, kind: passthrough, passthrough: {mode: xdp}}\n",
		"passes":     "functions:\n- {name: count, kind: counter}\n- {name: mark, kind: dscp, direction: forward, dscp: {code: ef}}\n- {name: lose, kind: drop, direction: reverse, drop: {ratio: 0.001}}\n- {name: limit, kind: ratelimit, ratelimit: {rate: 100Mbit, per: flow}}\n",
		"mirror":     "functions:\n- {name: a, kind: forward}\n- {name: m, kind: mirror}\n",
		"group":      group,
		"hugepages":  "wiring: ebpf\nruntime: lxc\nfunctions:\n- {name: nf, kind: command, container: {image: \"./nf.tar\"}, command: {args: [/nf]}, resources: {hugepages: 5MiB, hugepage_size: 2MiB, memory: 64MiB}}\n",
		"docker":     "wiring: ebpf\nruntime: docker\nfunctions:\n- {name: a, kind: forward, resources: {memory: 64MiB}}\n- name: web\n  kind: command\n  replicas: 2\n  container: {image: \"nginx:1.25\", mounts: [{source: /srv, target: /www, read_only: true}]}\n  command: {env: {A: b}, ready: {tcp_port: 80}}\n",
		"command":    "functions:\n- {name: web, kind: command, command: {args: [python3, -m, http.server, it's], env: {A: b}, ready: {tcp_port: 8000}}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			p, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), facts, plan.Options{})
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.MarshalIndent(p, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			hasNoNull(t, text)
			golden(t, name+".txt", []byte(p.Text()))
			if name == "forty" {
				return // the shorter ones show all there is of the rest
			}
			golden(t, name+".json", append(text, '\n'))
			golden(t, name+".sh", []byte(p.Script()))
		})
	}
}

// hasNoNull wants an empty list to be [], as JSON of every noun has it.
func hasNoNull(t *testing.T, text []byte) {
	t.Helper()
	if at := bytes.Index(text, []byte(": null")); at >= 0 {
		t.Errorf("null in ...%s", text[max(0, at-60):at+6])
	}
}

// TestNothingIsNull of what stands alone, and of chains that have nothing to share.
func TestNothingIsNull(t *testing.T) {
	nouns := map[string]any{}
	for _, body := range []string{"kind: firewall\n", "kind: forward\n", "kind: command\ncommand: {args: [sleep, infinity]}\n", "kind: shaper\nshaper: {rate: 1Gbit}\n"} {
		p, err := plan.MakeFunction(plantest.Function(t, "fn", body), plantest.Catalogue(), plan.Facts{})
		if err != nil {
			t.Fatal(err)
		}
		nouns[body] = p
	}
	s, err := plan.Share(&api.File{Chains: []api.Chain{plantest.Chain(t, "edge", smallest)}}, plantest.Catalogue(), nil)
	if err != nil {
		t.Fatal(err)
	}
	nouns["share"] = s
	for name, noun := range nouns {
		text, err := json.MarshalIndent(noun, "", "  ")
		if err != nil {
			t.Fatal(name, err)
		}
		hasNoNull(t, text)
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run go test ./internal/plan -update and look at what changed", path)
	}
}

// TestDirect is the hop beside the chain.
func TestDirect(t *testing.T) {
	p := made(t, smallest, plan.Facts{}, plan.Options{Direct: true})
	if p.Direct == nil || len(p.Direct.Client.Addresses) != 2 || p.Direct.Client.Device == p.Client().East.Device {
		t.Fatalf("%+v", p.Direct)
	}
	sound(t, p)
	without := made(t, smallest, plan.Facts{}, plan.Options{})
	if want := len(without.Resources) + 9; len(p.Resources) != want {
		t.Errorf("%d resources, want %d: one link, and at each end two addresses and two neighbours", len(p.Resources), want)
	}
}

func made(t testing.TB, spec string, f plan.Facts, o plan.Options) *plan.Plan {
	t.Helper()
	p, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func prefix(s string) netip.Prefix { return netip.MustParsePrefix(s) }

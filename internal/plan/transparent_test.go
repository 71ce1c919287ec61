package plan_test

import (
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/resource/neighbour"
	"nfchain.dev/nfchain/internal/resource/route"
	"nfchain.dev/nfchain/internal/resource/tuning"
)

// TestTransparent nodes have no addresses, and those around them are neighbours.
func TestTransparent(t *testing.T) {
	p := made(t, "functions:\n- {name: a, kind: bridge}\n- {name: b, kind: forward}\n- {name: c, kind: bridge}\n- {name: d, kind: bridge}\n", plan.Facts{}, plan.Options{Direct: true})
	macs := map[string]string{}
	for _, n := range p.Nodes {
		for _, port := range []*plan.Interface{n.West, n.East} {
			if port != nil && n.Transparent != (len(port.Addresses) == 0) {
				t.Errorf("%s: %+v", n.Name, port)
			}
			for i := 0; port != nil && i < len(port.Addresses); i++ {
				macs[port.Addresses[i].String()] = port.MAC
			}
		}
	}
	pairs := 0
	for _, r := range p.Resources {
		transparent := false
		for _, n := range p.Nodes {
			transparent = transparent || n.Transparent && n.Namespace == r.Namespace
		}
		switch s := r.Spec.(type) {
		case address.Spec, route.Spec:
			if transparent {
				t.Errorf("%s", r.ID)
			}
		case neighbour.Spec:
			pairs++
			if want := macs[s.Address.String()]; want != "" && s.MAC != want || transparent {
				t.Errorf("%s: %+v, want %s", r.ID, s, want)
			}
		}
	}
	if pairs != 2*2*3 { // both ways and families: client to b, b to server, and directly
		t.Errorf("%d neighbours", pairs)
	}
}

func TestTransparentRefuses(t *testing.T) {
	alone, passing := plantest.Function(t, "bump", "kind: bridge\n"), plantest.Function(t, "over", "kind: passthrough\n")
	program := plantest.Function(t, "wire", "kind: command\ncommand: {args: [x], transparent: true}\n")
	facts := plan.Facts{Functions: map[string]api.FunctionBody{"bump": alone.Spec, "over": passing.Spec, "wire": program.Spec}}
	const wire = "functions: [{name: p, kind: command, command: {args: [x], transparent: true}}]\n"
	const bump, over = "functions: [{name: b, kind: bridge}]\n", "functions: [{name: p, kind: passthrough}]\n"
	const frames = "functions: [{name: p, kind: passthrough, passthrough: {mode: xdp}}]\n"
	for spec, want := range map[string]string{
		"wiring: ovs\n" + bump:                                            "use wiring: veth",
		"functions: [{name: b, ref: bump}]\n":                             "cannot stand alone",
		"functions: [{name: b, kind: bridge, direction: forward}]\n":      "leave direction out",
		bump + "everywhere: [{kind: firewall}]\n":                         "except: [b]",
		"wiring: bridge\n" + over:                                         "use wiring: veth or wiring: ebpf",
		"wiring: bridge\nbridge: {per: chain, arms: 1}\n" + over:          "passes packets on from one interface to another",
		"functions: [{name: p, ref: over}]\n":                             "cannot stand alone",
		"functions: [{name: p, kind: passthrough, direction: forward}]\n": "leave direction out",
		"wiring: ebpf\n" + frames:                                         "use wiring: veth, or mode: tc",
		frames + "tuning: {tso: true}\n":                                  "no tuning.tso: true",
		frames + "tuning: {checksum: true}\n":                             "no tuning.checksum: true",
		frames + "tuning: {gro: false}\n":                                 "no tuning.gro: false",
		frames + "tuning: {tx_queues: 2}\n":                               "as many rx_queues",
		"functions: [{name: p, kind: passthrough}, {name: q, kind: passthrough, passthrough: {mode: xdp}}]\n": "give both the same mode",
		over + "everywhere: [{kind: shaper, shaper: {rate: 1Gbit}}]\n":                                        "except: [p]",
		"functions: [{name: p, kind: passthrough, group: g}, {name: a, kind: forward, group: g}]\n":           "p",
		"wiring: ovs\n" + wire:              "use wiring: veth",
		wire + "tuning: {checksum: true}\n": "as it goes over a wire, which with tuning.checksum: true it does not",
		wire + "tuning: {tso: true}\n":      "as it goes over a wire, which with tuning.tso: true it does not",
		"functions: [{name: p, kind: passthrough, passthrough: {mode: xdp}}, {name: w, kind: command, command: {args: [x], transparent: true}}]\n": "what the program of w passes on must come as it goes over a wire; use mode: tc",
		wire + "tuning: {gro: true}\n":            "as it goes over a wire, which with tuning.gro: true it does not",
		"functions: [{name: p, ref: wire}]\n":     "cannot stand alone",
		wire + "everywhere: [{kind: firewall}]\n": "except: [p]",
		"wiring: ebpf\nfunctions: [{name: p, kind: command, encapsulation: nsh, command: {args: [x], transparent: true}}]\n":             "command.transparent: with encapsulation: nsh",
		"functions: [{name: p, kind: command, group: g, command: {args: [x], transparent: true}}, {name: a, kind: forward, group: g}]\n": "a command without addresses needs a namespace of its own",
		"endpoints: [{name: client, command: {args: [x], transparent: true}}, {name: server}]\nfunctions: [{name: a, kind: forward}]\n":  "endpoint client: command.transparent: an endpoint passes nothing on",
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), facts, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", spec, err, want)
		}
	}
	made(t, bump+"everywhere: [{kind: firewall, except: [b]}, {kind: shaper, shaper: {rate: 1Gbit}}]\n", plan.Facts{}, plan.Options{})
	for _, f := range []api.StandaloneFunction{alone, passing, program} {
		if _, err := plan.MakeFunction(f, plantest.Catalogue(), plan.Facts{}); err == nil {
			t.Errorf("%s stands alone", f.Metadata.Name)
		}
	}
}

// TestInTheDriver: the nodes beside functions that take packets there, and no others, collect frames
// and send whole packets, whatever else is tuned.
func TestInTheDriver(t *testing.T) {
	const functions = "functions: [{name: a, kind: forward}, {name: p, kind: passthrough, passthrough: {mode: xdp}}, {name: q, kind: passthrough, passthrough: {mode: xdp}}]\n"
	for tuned, want := range map[string][4]string{
		"":                            {"", "checksum=false gro=true", "", "checksum=false gro=true"},
		"tuning: {gro: true}\n":       {"gro=true", "checksum=false gro=true", "gro=true", "checksum=false gro=true"},
		"tuning: {checksum: false}\n": {"checksum=false", "checksum=false gro=true", "checksum=false", "checksum=false gro=true"},
		"tuning: {scatter_gather: false, tx_queues: 2, rx_queues: 2}\n": {"rx_queues=2 tx_queues=2 scatter_gather=false", "rx_queues=2 tx_queues=2 checksum=false scatter_gather=false gro=true",
			"rx_queues=2 tx_queues=2 scatter_gather=false", "rx_queues=2 tx_queues=2 checksum=false scatter_gather=false gro=true"},
	} {
		p := made(t, tuned+functions, plan.Facts{}, plan.Options{})
		set := map[string]string{}
		for _, r := range p.Resources {
			if s, is := r.Spec.(tuning.Spec); is {
				set[r.Namespace+" "+s.Device] = s.Fingerprint()
			}
		}
		got := [4]string{set[p.Client().Namespace+" eth0"], set[p.Functions()[0].Namespace+" eth1"], set[p.Functions()[1].Namespace+" eth0"], set[p.Server().Namespace+" eth0"]}
		if got != want {
			t.Errorf("%q: %q, want %q", tuned, got, want)
		}
	}
}

// TestPassedOnWhole: frames that come to a program which passes them on have their checksums, from its neighbours, and over a forwarder from all.
func TestPassedOnWhole(t *testing.T) {
	const program = "{name: p, kind: command, command: {args: [x], transparent: true}}"
	const among = "{name: a, kind: forward}, {name: b, kind: forward}, " + program + ", {name: c, kind: forward}"
	const handed = "{name: a, kind: passthrough}, {name: b, kind: passthrough}, " + program + ", {name: c, kind: passthrough}, {name: d, kind: bridge}" // what is handed on comes as it was sent
	for spec, want := range map[string][]string{
		"wiring: veth\nfunctions: [" + among + "]\n":  {"b eth1", "c eth0"},
		"wiring: ebpf\nfunctions: [" + among + "]\n":  {"a eth0", "a eth1", "b eth0", "b eth1", "c eth0", "c eth1", "client eth0", "server eth0"},
		"wiring: veth\nfunctions: [" + handed + "]\n": {"a eth1", "b eth1", "c eth0", "client eth0", "d eth0"},
	} {
		p := made(t, spec, plan.Facts{}, plan.Options{})
		var got []string
		for _, r := range p.Resources {
			if s, is := r.Spec.(tuning.Spec); is && s.Fingerprint() == "checksum=false" {
				got = append(got, strings.TrimPrefix(r.Namespace, "nfchain.edge.")+" "+s.Device)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
}

package run

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/builtin"
	"nfchain.dev/nfchain/internal/traffic/iperf3"
	"nfchain.dev/nfchain/internal/traffic/ping"
	"nfchain.dev/nfchain/internal/traffic/rr"
	"nfchain.dev/nfchain/internal/traffic/web"
	"nfchain.dev/nfchain/internal/trial"
)

// TestLoadPath: a load has the one path that all of its flows are given, or is refused.
func TestLoadPath(t *testing.T) {
	for _, c := range []struct {
		rules     string
		condition trial.Condition
		tool      traffic.Tool
		path      string
		wrong     string
	}{
		{"{otherwise: chain}", trial.Condition{Protocol: "tcp"}, iperf3.Tool{}, "a b", ""},
		{"{rules: [{name: web, match: {protocol: tcp, destination_port: 80-443}, functions: [a]}, {name: rest, match: {protocol: tcp}, functions: [b]}]}", trial.Condition{Protocol: "tcp"}, iperf3.Tool{}, "b", ""},
		{"{rules: [{name: load, match: {destination_port: 5201, protocol: tcp}, functions: [a]}]}", trial.Condition{Protocol: "tcp"}, iperf3.Tool{}, "", `the paths "a" and "direct"`},
		{"{rules: [{name: load, match: {destination_port: 5000-6000, protocol: tcp}, functions: [a]}]}", trial.Condition{Protocol: "tcp", Flows: 4}, iperf3.Tool{}, "a", ""},
		{"{rules: [{name: udp, match: {protocol: udp, ingress: client}, functions: [a]}]}", trial.Condition{Protocol: "udp"}, builtin.Tool{}, "a", ""},
		{"{rules: [{name: udp, match: {protocol: udp, ingress: client}, functions: [a]}]}", trial.Condition{Protocol: "udp", Frames: trial.Frames{Bidirectional: true}}, builtin.Tool{}, "a", ""},
		{"{rules: [{name: out, match: {protocol: udp, ingress: client}, functions: [a]}, {name: back, match: {protocol: udp, ingress: server}, functions: [b]}]}", trial.Condition{Protocol: "udp", Frames: trial.Frames{Bidirectional: true}}, builtin.Tool{}, "", "and it would not be known which"},
		{"{rules: [{name: udp, match: {protocol: udp}, functions: [a]}]}", trial.Condition{Protocol: "latency"}, ping.Tool{}, "", "have one rule match all of it"},
		{"{otherwise: drop, rules: [{name: tcp, match: {protocol: tcp}, functions: [a]}]}", trial.Condition{Protocol: "udp"}, builtin.Tool{}, "", "ends where it comes in"},
		{"{rules: [{name: web, match: {protocol: tcp, destination_port: \"80\"}, functions: [a]}], otherwise: chain}", trial.Condition{Protocol: "http", Web: trial.Web{URL: "http://server:8080/"}}, web.Tool{}, "a b", ""},
		{"{rules: [{name: web, match: {protocol: tcp, destination_port: \"80\"}, functions: [a]}], otherwise: chain}", trial.Condition{Protocol: "http", Web: trial.Web{URL: "http://server/"}}, web.Tool{}, "", `take the path "a", and packets that prove a path take "a b"`},
		{"{otherwise: chain}", trial.Condition{Protocol: "http", Web: trial.Web{URL: "http://[2001:db8::9]/"}}, web.Tool{}, "a b", ""},
		{"{otherwise: chain}\naddresses: {ipv6: none}", trial.Condition{Protocol: "http", Web: trial.Web{URL: "http://[2001:db8::9]/"}}, web.Tool{}, "", "url: client has no IPv6 address, from which 2001:db8::9 could be asked"},
		{"{rules: [{name: echo, match: {protocol: udp, destination: \"2001:db8::9/128\"}, functions: [a]}], otherwise: chain}", trial.Condition{Protocol: "udp_rr", Web: trial.Web{URL: "udp://[2001:db8::9]:7"}}, rr.Tool{}, "", `take the path "a", and packets that prove a path take "a b"`},
		{"{rules: [{name: tcp, match: {protocol: tcp, destination: \"2001:db8::9/128\"}, functions: [a]}], otherwise: chain}", trial.Condition{Protocol: "udp_rr", Web: trial.Web{URL: "udp://[2001:db8::9]:7"}}, rr.Tool{}, "a b", ""},
		{"{otherwise: drop, rules: [{name: vlan, match: {vlan: 100}, functions: [b]}]}", trial.Condition{Protocol: "udp", Frames: trial.Frames{VLAN: 100}}, builtin.Tool{}, "b", ""},
	} {
		chain := plantest.Chain(t, "edge", "wiring: ebpf\nfunctions: [{name: a, kind: forward}, {name: b, kind: forward}]\nclassifier: "+c.rules+"\n")
		p, err := plan.Make(chain, plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		path, err := loadPath(p, c.condition, c.tool)
		switch {
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: %v, want %q", c.rules, err, c.wrong)
		case c.wrong == "" && (err != nil || path.Name != c.path):
			t.Errorf("%s: path %+v, error %v, want %q", c.rules, path, err, c.path)
		}
	}
}

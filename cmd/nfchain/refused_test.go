package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	runs "nfchain.dev/nfchain/internal/run"
)

// TestRefusalsHaveTheirPlace in the file: what a plan refuses is told with line, field and all.
func TestRefusalsHaveTheirPlace(t *testing.T) {
	const head = "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: c}\nspec:\n  wiring: ebpf\n"
	for body, want := range map[string]string{
		"  functions:\n  - {name: a, kind: forward}\n  - {name: p, kind: passthrough, branches: [{mark: 1, to: server}]}\n  - {name: b, kind: forward}\n":                                                               "8:44: spec.functions[1].branches: what a passthrough passes on has no mark",
		"  functions:\n  - {name: a, kind: forward, branches: [{mark: 1, to: b}]}\n  - {name: a-1, kind: nat, runtime: inline, nat: {source: {masquerade: true}}}\n  - {name: b, kind: forward}\n":                      "8:5: spec.functions[1]: a nat gives connections addresses",
		"  functions:\n  - {name: b, kind: forward}\n  - {name: a, kind: nat, onFailure: bypass, nat: {source: {masquerade: true}}}\n":                                                                                  "8:37: spec.functions[1].onFailure: ",
		"  functions:\n  - {name: g1, kind: passthrough, group: g}\n  - {name: g2, kind: firewall, group: g}\n":                                                                                                         "7:5: spec.functions[0]: a passthrough needs a namespace of its own",
		"  functions: [{name: i, kind: nat, runtime: inline, nat: {source: {}}}, {name: a, kind: forward}]\n  classifier: {rules: [{name: x, match: {protocol: tcp}, functions: [i, a]}, {name: y, functions: [i]}]}\n": "7:15: spec.classifier: i translates addresses",
	} {
		name := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(name, []byte(head+body), 0o600); err != nil {
			t.Fatal(err)
		}
		a := &app{env: env{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}}
		v, err := a.validate([]string{name})
		if err != nil || len(v.Problems) == 0 || !strings.HasPrefix(v.Problems[0].String(), name+":"+want) {
			t.Errorf("%s: %v %v, want %s", body, v.Problems, err, want)
			continue
		}
		// As who makes the plan for the machine is told.
		refused := fmt.Errorf("chain c: function x: %s: %w", v.Problems[0].Message, runs.ErrInput)
		var problems api.Problems
		if got := a.placed(refused, name); !errors.As(got, &problems) || problems[0] != v.Problems[0] {
			t.Errorf("%v, want %v", got, v.Problems)
		}
		if other := errors.New("the disk is full"); !errors.Is(a.placed(other, name), other) || a.placed(nil, name) != nil {
			t.Errorf("%s: another error is told as a refusal", body)
		}
	}
}

// TestRefusalsAreAllTold, in the order of the file, also beside what is wrong in its words; but not what may follow from that alone.
func TestRefusalsAreAllTold(t *testing.T) {
	const head = "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: c}\nspec:\n"
	const ill, inline = "  functions:\n  - {name: a, kind: firewall, onFailure: bypass}\n", "  - {name: b, kind: counter, runtime: inline}\n"
	first, second := ":6:42: spec.functions[0].onFailure: over wiring veth", ":7:5: spec.functions[1]: runtime inline: wiring veth"
	for body, want := range map[string][]string{
		ill + inline + "  - {name: d, kind: forward, onFailure: block}\n":                                   {first, second, ":8:41: spec.functions[2].onFailure: over"},
		ill + inline + "  - {name: d, kind: forward, replicas: 2, onFailure: block}\n":                      {first, second, ":8:40: spec.functions[2].replicas: ", ":8:54: spec.functions[2].onFailure: over"},
		ill + "  - {name: b, kind: conter, runtime: inline}\n":                                              {first, ":7:21: spec.functions[1].kind: "},
		ill + "  - {name: b, command: {args: [a]}, encapsulation: nsh}\n":                                   {first, ":7:15: spec.functions[1].command: options of command given"},
		"  wirng: ebpf\n" + ill + inline:                                                                    {":5:3: spec.wirng: unknown"},
		"  wiring: ebf\n" + ill + inline:                                                                    {`:5:11: spec.wiring: "ebf" is not`},
		"  wiring: host\n  endpoints: [{name: a, interface: x}, {name: b, runtme: cni}]\n  functions: []\n": {":6:36: spec.endpoints[0].interface: wiring host", ":6:50: spec.endpoints[1].runtme: unknown"},
	} {
		name := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(name, []byte(head+body), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := (&app{env: env{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}}).validate([]string{name})
		if err != nil || len(v.Problems) != len(want) {
			t.Errorf("%s: %v %v", body, v.Problems, err)
			continue
		}
		for i, p := range v.Problems {
			if !strings.HasPrefix(p.String(), name+want[i]) {
				t.Errorf("%s, want %s", p, want[i])
			}
		}
	}
}

// TestPlacementIsTheMachines: which CPUs there are is nothing that a file is wrong by; what else it is wrong by is told.
func TestPlacementIsTheMachines(t *testing.T) {
	const head = "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: c}\nspec:\n"
	for body, want := range map[string]string{
		"  placement: {load: exclusive, softirqs: exclusive, numa: same}\n": "",
		"  placement: {load: exclusive, numa: \"7\"}\n":                     "",
		"  placement: {load: {shared: 8000}}\n":                             "",
		"  placement: {load: {shared: 8000}}\n  wiring: ebpf\n  functions: [{name: b, kind: nat, onFailure: bypass, nat: {source: {masquerade: true}}}, {name: a, kind: counter, runtime: inline}]\n":                                                                       "spec.functions[0].onFailure: ",
		"  placement: {load: exclusive}\n  wiring: ebpf\n  functions: [{name: c, kind: command, resources: {cpus: 0-1023}, command: {args: [a]}}, {name: b, kind: nat, onFailure: bypass, nat: {source: {masquerade: true}}}, {name: a, kind: counter, runtime: inline}]\n": "spec.functions[1].onFailure: ",
		"  placement: {functions: exclusive, load: exclusive}\n  wiring: ebpf\n  functions: [{name: a, kind: command, replicas: 2, command: {args: [a]}}]\n":                                                                                                                "spec.functions[0].replicas: placement gives each function a CPU to itself",
	} {
		name := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(name, []byte(head+body), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := (&app{env: env{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}}).validate([]string{name})
		if err != nil || len(v.Problems) > 1 || want == "" && len(v.Problems) > 0 || want != "" && (len(v.Problems) == 0 || !strings.Contains(v.Problems[0].String(), want)) {
			t.Errorf("%s: %v %v, want %q", body, v.Problems, err, want)
		}
	}
}

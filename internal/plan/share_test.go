package plan_test

import (
	"net/netip"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/resource/lookup"
	"nfchain.dev/nfchain/internal/resource/route"
	"nfchain.dev/nfchain/internal/resource/tuning"
)

const (
	mail = "kind: firewall, firewall: {rules: {list: [{protocol: tcp, destination_port: 25, action: drop}]}}}"
	slow = "kind: shaper, shaper: {rate: 1Gbit}}"
)

// TestShare merges what chains have alike, the second with the second, and nothing else.
func TestShare(t *testing.T) {
	f := &api.File{Chains: []api.Chain{
		plantest.Chain(t, "shop", "tenant: s\nfunctions:\n- {name: fw, "+mail+"\n- {name: limit, "+slow+"\n- {name: again, "+mail+"\n- {name: n, kind: nat, nat: {source: {masquerade: true}}}\n"),
		plantest.Chain(t, "bank", "functions:\n- {name: filter, "+mail+"\n- {name: n, kind: nat, nat: {source: {masquerade: true}}}\n- {name: one, direction: forward, "+slow+"\n"),
		plantest.Chain(t, "club", "functions:\n- {name: a, "+mail+"\n- {name: b, "+mail+"\n- {name: c, "+slow+"\neverywhere: [{kind: firewall, except: [a, b]}]\n"),
	}}
	s, err := plan.Share(f, plantest.Catalogue(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Shared) != 2 || len(s.Shared[0].Of) != 3 || len(s.Shared[1].Of) != 2 || s.NamespacesSaved != 3 || len(s.Functions) != 2 {
		t.Errorf("%s", s.Text())
	}
	for text, want := range map[string]string{
		"first":  "is in the place of shop/fw, bank/filter, club/a\n",
		"second": "is in the place of shop/again, club/b\n",
		"nat":    "bank/n is not shared: a nat has addresses",
		"every":  "club/c is not shared: functions that are everywhere act in its namespace too; write except: [c]",
	} {
		if !strings.Contains(s.Text(), want) {
			t.Errorf("%s: %q is not said in\n%s", text, want, s.Text())
		}
	}
	facts := plan.Facts{Functions: map[string]api.FunctionBody{}}
	for _, fn := range s.Functions {
		if _, err := plan.MakeFunction(fn, plantest.Catalogue(), plan.Facts{}); err != nil {
			t.Error(err)
		}
		facts.Functions[fn.Metadata.Name] = fn.Spec
	}
	for i, tenant := range []string{"s", "bank", "club"} {
		if s.Chains[i].Spec.Tenant != tenant || f.Chains[i].Spec.Functions[0].Ref != "" {
			t.Errorf("chain %d is %s's, and the file has %+v", i, s.Chains[i].Spec.Tenant, f.Chains[i].Spec.Functions[0])
		}
		if _, err := plan.Make(s.Chains[i], plantest.Catalogue(), facts, plan.Options{}); err != nil {
			t.Error(err)
		}
	}
}

// TestSharedFunctionsArePlaced by each chain for what comes in by its own interfaces there.
func TestSharedFunctionsArePlaced(t *testing.T) {
	f := &api.File{Chains: []api.Chain{
		plantest.Chain(t, "shop", "functions: [{name: fw, "+mail+"]\nplacement: {softirqs: {shared: 0}, load: {shared: 1}}\n"),
		plantest.Chain(t, "bank", "functions: [{name: filter, "+mail+"]\nplacement: {softirqs: exclusive}\n"),
		plantest.Chain(t, "club", "functions: [{name: a, "+mail+"]\n"),
	}}
	s, err := plan.Share(f, plantest.Catalogue(), nil)
	if err != nil || len(s.Shared) != 1 || len(s.Shared[0].Of) != 3 {
		t.Fatal(s, err)
	}
	facts := plan.Facts{CPUs: upTo(4), Functions: map[string]api.FunctionBody{s.Functions[0].Metadata.Name: s.Functions[0].Spec}}
	for i, want := range []string{"0", "2", ""} {
		p, err := plan.Make(s.Chains[i], plantest.Catalogue(), facts, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fw, got := p.Nodes[1], map[string]string{}
		for _, r := range p.Resources {
			if at, is := r.Spec.(tuning.Spec); is && r.Namespace == fw.Namespace {
				got[at.Device] = at.Settings[0].Knob + " " + at.Settings[0].Value
			}
		}
		for _, device := range []string{fw.West.Device, fw.East.Device} {
			if want != "" && got[device] != "rps "+want || want == "" && len(got) > 0 {
				t.Errorf("in the shared function %s's interfaces have %v, want rps %q at %s", p.Chain, got, want, device)
			}
		}
	}
}

// TestScriptOfSeveral is one script, which looks for nfchain once before it makes anything.
func TestScriptOfSeveral(t *testing.T) {
	alone := plantest.Function(t, "filter", "kind: firewall\n")
	own, err := plan.MakeFunction(alone, plantest.Catalogue(), plan.Facts{})
	if err != nil {
		t.Fatal(err)
	}
	p := made(t, "tenant: s\nfunctions: [{name: fw, ref: filter}, {name: web, kind: command, command: {args: [sleep, inf]}}]\n",
		plan.Facts{Functions: map[string]api.FunctionBody{"filter": alone.Spec}}, plan.Options{})
	text := plan.Script(plan.Part{Plan: own, First: []resource.Command{resource.Cmd("first")}}, plan.Part{Plan: p})
	if !strings.HasPrefix(text, "#!/bin/sh\n# Makes functions and chains filter, edge as `nfchain up` would.") || !strings.Contains(text, "`nfchain down filter edge`") {
		t.Errorf("it begins\n%s", text[:300])
	}
	for _, once := range []string{"#!/bin/sh", "command -v nfchain", "know the function by\nfirst\n", "ip netns add nfchain.filter\n", "ip netns add nfchain.edge.client\n"} {
		if n := strings.Count(text, once); n != 1 {
			t.Errorf("%q is there %d times", once, n)
		}
	}
	if strings.Index(text, "command -v nfchain") > strings.Index(text, "ip netns add") {
		t.Error("it makes something before it looks for nfchain")
	}
}

// TestApart has a tenant's chain leave no address in a function of others', and no route
// in the table that all have.
func TestApart(t *testing.T) {
	shared := plantest.Function(t, "filter", "kind: firewall\n")
	facts := plan.Facts{Functions: map[string]api.FunctionBody{"filter": shared.Spec}}
	p := made(t, "tenant: s\nfunctions: [{name: fw, ref: filter}]\n", facts, plan.Options{})
	fw, lookups := p.Nodes[1], 0
	for _, r := range p.Resources {
		if r.Namespace != fw.Namespace {
			continue
		}
		switch s := r.Spec.(type) {
		case address.Spec:
			t.Errorf("the function has %s", s.Address)
		case route.Spec:
			if s.Table != fw.Apart {
				t.Errorf("%s is in table %d", s.Destination, s.Table)
			}
		case lookup.Spec:
			lookups++
		}
	}
	if lookups != 2 || fw.Apart == 0 {
		t.Errorf("%d look-ups for table %d", lookups, fw.Apart)
	}
}

// TestApartRefuses what cannot be kept apart.
func TestApartRefuses(t *testing.T) {
	for body, want := range map[string]string{
		"kind: firewall\n": "function filter is in use by chain other; chains that go through one function are kept apart where each has a tenant",
		"kind: firewall\nfirewall: {rules: {list: [{state: [established], action: accept}]}}\n": "filter cannot be shared by tenants: it tracks connections",
		"kind: firewall\nfirewall: {rules: {generate: 1, stateful: true}}\n":                    "filter cannot be shared by tenants: it tracks connections",
		"kind: command\ncommand: {args: [x]}\n":                                                 "filter cannot be shared by tenants: a command has addresses, a program",
		"kind: impair\nimpair: {delay: 1ms}\n":                                                  "filter cannot be shared by tenants: a impair has",
	} {
		shared := plantest.Function(t, "filter", body)
		facts := plan.Facts{Functions: map[string]api.FunctionBody{"filter": shared.Spec}}
		if strings.Contains(want, "other") {
			facts.Guests = map[string][]string{"filter": {"edge", "other"}}
		}
		_, err := plan.Make(plantest.Chain(t, "edge", "tenant: s\nfunctions: [{name: fw, ref: filter}]\n"), plantest.Catalogue(), facts, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", body, err, want)
		}
	}
}

// TestTenantsAddresses may be another tenant's too, and nobody else's.
func TestTenantsAddresses(t *testing.T) {
	const spec = "addresses: {ipv4: 10.0.0.0/26, ipv6: none}\nfunctions: [{name: a, kind: forward}]\n"
	facts := plan.Facts{Blocks: map[string][]netip.Prefix{"other": {prefix("10.0.0.0/26")}}, Tenants: map[string]string{"other": "o"}}
	if p := made(t, "tenant: s\n"+spec, facts, plan.Options{}); p.Blocks[0] != prefix("10.0.0.0/26") {
		t.Errorf("blocks %v", p.Blocks)
	}
	for _, tenant := range []string{"", "tenant: o\n"} {
		if _, err := plan.Make(plantest.Chain(t, "edge", tenant+spec), plantest.Catalogue(), facts, plan.Options{}); err == nil {
			t.Errorf("%q has addresses of the other chain", tenant)
		}
	}
}

package deploy_test

import (
	"os"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

// planned is the plan of a chain with what this machine is now.
func planned(tb testing.TB, owner, spec string, alone ...api.StandaloneFunction) *plan.Plan {
	tb.Helper()
	chain := plantest.Chain(tb, owner, spec)
	facts, err := deploy.Facts(chain)
	if err != nil {
		tb.Fatal(err)
	}
	facts.Has = nstest.Has
	facts.Functions = map[string]api.FunctionBody{}
	for _, f := range alone {
		facts.Functions[f.Metadata.Name] = f.Spec
	}
	p, err := plan.Make(chain, plantest.Catalogue(), facts, plan.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// joined is the plan of a chain on this machine, with what it has.
func joined(t *testing.T, owner, spec string) *plan.Plan {
	t.Helper()
	chain := plantest.Chain(t, owner, spec)
	facts, err := deploy.Facts(chain)
	if err != nil {
		t.Fatal(err)
	}
	facts.Has = nstest.Has
	p, err := plan.Make(chain, plantest.Catalogue(), facts, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

package deploy_test

import (
	"fmt"
	"os"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/process"
)

// TestMain refuses to be a chain's supervisor, which these tests have none of: it would run them all in its place.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == process.SuperviseCommand {
		fmt.Fprintln(os.Stderr, "the tests of this package have no supervisor")
		os.Exit(1)
	}
	os.Exit(nstest.Main(m))
}

// planned is the plan of a chain with what this machine is now.
func planned(tb testing.TB, owner, spec string, alone ...api.StandaloneFunction) *plan.Plan {
	tb.Helper()
	return plannedWith(tb, owner, spec, factsNow(tb, owner, spec, alone...))
}

// factsNow are what a plan of the chain must know of this machine, where chains of other tests come and go meanwhile.
func factsNow(tb testing.TB, owner, spec string, alone ...api.StandaloneFunction) plan.Facts {
	tb.Helper()
	facts, err := deploy.Facts(plantest.Chain(tb, owner, spec))
	if err != nil {
		tb.Fatal(err)
	}
	facts.Has = nstest.Has
	facts.Functions = map[string]api.FunctionBody{}
	for _, f := range alone {
		facts.Functions[f.Metadata.Name] = f.Spec
	}
	return facts
}

func plannedWith(tb testing.TB, owner, spec string, facts plan.Facts) *plan.Plan {
	tb.Helper()
	p, err := plan.Make(plantest.Chain(tb, owner, spec), plantest.Catalogue(), facts, plan.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

package deploy_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
)

// TestGiven: what an owner has been given counts as long as a namespace of it is there or somebody works on it, and goes with it.
func TestGiven(t *testing.T) {
	if !nstest.Alone(t) {
		return
	}
	there, dead := nstest.Owner(t), nstest.Owner(t)
	name := nstest.Namespace(t)
	claim := plan.Claim{Own: map[string]int{"proxy": 3}, Named: []int{0}}
	for owner, node := range map[string]string{there: name, dead: name + "-gone"} {
		p := &plan.Plan{Chain: owner, Nodes: []plan.Node{{Name: "host", Namespace: netns.Host}, {Name: "theirs", Namespace: name}, {Name: "proxy", Namespace: node, Made: true}}}
		if err := deploy.Give(p, claim); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(who string, want plan.Claims) {
		t.Helper()
		if got, err := deploy.GivenOthers(who); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("others than %q have %v, error %v, want %v", who, got, err, want)
		}
	}
	expect("", plan.Claims{there: claim})
	expect(there, plan.Claims{})
	if own, err := deploy.Given(there); err != nil || !reflect.DeepEqual(own, claim) {
		t.Errorf("own %v, error %v", own, err)
	}
	if own, err := deploy.Given(dead); err != nil || !own.Empty() {
		t.Errorf("of what is not there %v, error %v", own, err)
	}
	lock, err := rundir.Take(deploy.LockFile(dead))
	if err != nil {
		t.Fatal(err)
	}
	expect("", plan.Claims{there: claim, dead: claim})
	lock.Release()
	expect("", plan.Claims{there: claim})
	for range 2 {
		if err := deploy.Give(&plan.Plan{Chain: there}, plan.Claim{}); err != nil {
			t.Error(err)
		}
	}
	expect("", plan.Claims{})
	bare := nstest.Owner(t) // nothing is made for it
	t.Cleanup(func() { _ = os.RemoveAll(deploy.StateDir(bare)) })
	if err := deploy.Give(&plan.Plan{Chain: bare, Nodes: []plan.Node{{Name: "host", Namespace: netns.Host}}}, claim); err != nil {
		t.Fatal(err)
	}
	expect("", plan.Claims{bare: claim})
	if own, err := deploy.Given(bare); err != nil || !reflect.DeepEqual(own, claim) {
		t.Errorf("own %v, error %v", own, err)
	}
	if err := deploy.Give(&plan.Plan{Chain: bare}, plan.Claim{}); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(deploy.StateDir(dead), "cpus"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := deploy.GivenOthers(there); err == nil || !strings.Contains(err.Error(), "nfchain down "+dead) {
		t.Errorf("error %v", err)
	}
	for _, owner := range []string{there, dead} {
		if err := os.RemoveAll(deploy.StateDir(owner)); err != nil {
			t.Error(err)
		}
	}
}

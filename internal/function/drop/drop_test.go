package drop

import (
	"math"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource/pass"
)

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		o    Options
		path string
	}{
		{Options{Every: 1}, ""}, {Options{Ratio: 1}, ""}, {Options{Ratio: 1e-9}, ""},
		{Options{}, "every"}, {Options{Every: 1, Ratio: 0.5}, "ratio"}, {Options{Ratio: 1.1}, "ratio"},
		{Options{Ratio: -1}, "ratio"}, {Options{Ratio: math.NaN()}, "ratio"},
	} {
		wrong := c.o.Validate()
		if c.path == "" && len(wrong) > 0 || c.path != "" && (len(wrong) != 1 || wrong[0].Path != c.path) {
			t.Errorf("%+v: %v", c.o, wrong)
		}
	}
}

// TestWays have random numbers of their own, and are at the interface by which their
// packets come in.
func TestWays(t *testing.T) {
	site := function.Site{Namespace: "ns", West: "eth0", East: "eth1"}
	made, err := Kind{}.Contribute(site, &Options{Ratio: 0.25, Seed: 1})
	if err != nil || len(made) != 2 {
		t.Fatal(made, err)
	}
	there, back := made[0].Spec.(pass.Spec), made[1].Spec.(pass.Spec)
	if there.Device != "eth0" || back.Device != "eth1" || there.Steps[0].Args[1] != 1<<51 || there.Steps[0].Args[2] == back.Steps[0].Args[2] {
		t.Errorf("%+v and %+v", there, back)
	}
	for direction, device := range map[api.Direction]string{api.Forward: "eth0", api.Reverse: "eth1"} {
		site.Direction = direction
		made, err := Kind{}.Contribute(site, &Options{Every: 2})
		if err != nil || len(made) != 1 || made[0].Spec.Key() != device {
			t.Errorf("%s: %v, %v", direction, made, err)
		}
	}
	one := function.Site{Namespace: "ns", West: "eth0", East: "eth0"}
	if made, err := (Kind{}).Contribute(one, &Options{Every: 2}); err != nil || len(made) != 1 {
		t.Errorf("on one arm: %v, %v", made, err)
	}
	if one.Direction = api.Forward; (Kind{}).OnOneArm(one, nil) == nil {
		t.Error("one direction on one arm is not refused")
	}
}

package steer_test

import (
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// TestOlderPathsAreForgottenWhereFlowsBegin first: as long as a packet can be led on by one from there, ports between functions lead it on too, and
// do not end it.
func TestOlderPathsAreForgottenWhereFlowsBegin(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		ports := func(way string, to int) []steer.Spec {
			ways := []steer.Way{{Path: way, Number: to, Port: shared[to]}}
			all := append(classified(hook, steer.Choice{Otherwise: way}, ways),
				steer.Spec{Device: "third", Hook: hook, Paths: &steer.Paths{Ways: ways, Flows: 1 << 14, Idle: api.Duration(time.Hour)}})
			for i := range all {
				all[i].Stay = &steer.Stay{Flows: 1 << 14, Idle: api.Duration(time.Hour)}
			}
			return all
		}
		d.classify(t, ports("a", 1)...)
		old := flows(0, 5)
		d.at(t, 1, old...)
		var changes []resource.Change
		for _, s := range ports("b", 2) {
			changes = append(changes, resource.Change{Op: resource.Update, Key: s.Device, Spec: s})
		}
		d.Place = resource.At(d.Handle, d.Owner)
		if err := wanted(shared...).Apply(d.Place, changes); err != nil {
			t.Fatal(err)
		}
		d.at(t, 1, old...)
		third := d.wire(t, 3)
		inner := func(what string, want int) {
			t.Helper()
			t.Log(what)
			for _, f := range old {
				d.number++
				third.pass(t, f.packet(d.number), d.replicas[want-1])
			}
		}
		inner("on an older path", 1)
		if err := steer.ForgetOlderBut(d.Place, "west"); err == nil {
			t.Fatal("an end that cannot be told to forget was told so")
		}
		inner("while an end leads by it", 1)
		if n, err := steer.ForgetOlder(d.Place); n != len(old) || err != nil {
			t.Errorf("%d flows were moved, error %v", n, err)
		}
		d.at(t, 2, old...)
		inner("then", 2)
	})
}

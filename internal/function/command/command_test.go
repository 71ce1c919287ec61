package command_test

import (
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function/command"
)

// TestReadyOptions: a ready command is asked no more often than is sane, and what it says counts for something.
func TestReadyOptions(t *testing.T) {
	for want, edit := range map[string]func(*command.Ready){
		"":               func(r *command.Ready) { r.Period, r.Failures = api.Duration(1e9), 1 },
		"ready.period":   func(r *command.Ready) { r.Period = api.Duration(999e6) },
		"ready.failures": func(r *command.Ready) { r.Failures = 0 },
		"ready":          func(r *command.Ready) { r.TCPPort = 80 },
	} {
		o := command.Kind{}.Options().(*command.Options)
		if o.Ready.Period != api.Duration(10e9) || o.Ready.Failures != 3 {
			t.Errorf("the defaults are %+v", o.Ready)
		}
		o.Ready.Command = []string{"true"}
		edit(&o.Ready)
		got := ""
		for _, p := range o.Validate() {
			got += p.Path
		}
		if got != want {
			t.Errorf("%+v: wrong is %q, want %q", o.Ready, got, want)
		}
	}
}

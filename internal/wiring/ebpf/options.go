package ebpf

import (
	"cmp"
	_ "embed"
	"fmt"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// Options of the wiring.
type Options struct {
	// Hook is what holds the programs that steer at the ports: tcx (Linux 6.6 and newer) or
	// clsact. Those of inline functions, and what takes probes out, are at tcx wherever the
	// kernel has it. Default: tcx where the kernel has it.
	Hook string `json:"hook,omitempty" jsonschema:"enum=tcx,enum=clsact"`
	// Stay has flows stay on the path that they began on when the chain changes, until they have been
	// idle: functions that are no longer wanted are removed when none goes by them any more. Default
	// true. With false all packets go the new path at once, as they do after a few edits ("At once" in docs/steering.md)
	// and while a function fails.
	Stay *bool `json:"stay,omitempty"`
	// Census is how long after a change flows that come are taken for those from before, and `up` waits for it: one
	// without a packet in that while has none under way either. From 10ms to what idle is, or 250ms. Default 250ms.
	Census api.Duration `json:"census,omitempty"`
	// Flows that are known: of each function with replicas, so that all packets of one go to the same
	// replica, and of those not seen for longest are forgotten, and go where new ones would; and of the chain while flows
	// stay on an older path, where those not seen for longest make room, and move as those do for which there is none.
	// Default 65536.
	Flows int `json:"flows,omitempty" jsonschema:"minimum=1024,maximum=4194304"`
	// Idle is how long a flow has no packet until it is over, and goes the newest path: one that is not keeps a
	// replica that is to go. At least 10ms. Default 30s.
	Idle api.Duration `json:"idle,omitempty"`
	// ServicePath is the number of the chain's path in the headers of functions that are told it
	// (encapsulation: nsh); that of the way back is 8388608 more. Default: one that follows from
	// the chain's name.
	ServicePath uint32 `json:"service_path,omitempty" jsonschema:"minimum=1,maximum=8388607"`
}

//go:embed options.go
var declared string

// Declared implements api.Declared.
func (*Options) Declared() string { return declared }

// Options implements wiring.Wiring.
func (Wiring) Options() any { return &Options{Idle: defaultIdle, Census: defaultCensus} }

// shortest time without a packet that programs tell from none: the clock that they read has steps of up to 10 ms.
const shortest = api.Duration(10 * time.Millisecond)

// Validate implements the catalogue's check of options.
func (o *Options) Validate() []api.FieldProblem {
	var wrong []api.FieldProblem
	if o.Idle < shortest {
		wrong = append(wrong, api.FieldProblem{Path: "idle", Message: fmt.Sprintf("a flow is over after %v without a packet at the earliest; with stay: false all go the new path at once", shortest)})
	}
	if longest := max(o.Idle, defaultCensus); o.Census < shortest || o.Census > longest {
		wrong = append(wrong, api.FieldProblem{Path: "census", Message: fmt.Sprintf("flows from before are looked for from %v to %v long, since those without a packet for that time (idle) are over, and `up` waits meanwhile; with stay: false none are", shortest, longest)})
	}
	return wrong
}

// chosen is the hook of a file, or else the better one that the machine has.
func (o *Options) chosen(has func(feature string) bool) string {
	switch {
	case o.Hook != "":
		return o.Hook
	case has(feature.BPFTCX):
		return steer.TCX
	}
	return steer.Clsact
}

const (
	defaultFlows = 1 << 16
	defaultIdle  = api.Duration(30 * time.Second)
	// defaultCensus is more than packets are under way, and `up` takes it.
	defaultCensus = api.Duration(250 * time.Millisecond)
)

// Flows implements wiring.Sharing.
func (Wiring) Flows(options any) (known uint32, idle api.Duration) {
	o := options.(*Options)
	return uint32(cmp.Or(o.Flows, defaultFlows)), o.Idle
}

// ServicePath implements wiring.Encapsulating.
func (Wiring) ServicePath(options any) uint32 { return options.(*Options).ServicePath }

// stay is how flows stay on their path; nil where they do not.
func (o *Options) stay() *steer.Stay {
	if o.Stay != nil && !*o.Stay {
		return nil
	}
	known, idle := Wiring{}.Flows(o)
	return &steer.Stay{Flows: known, Idle: idle, Census: o.Census, Asked: o.Stay != nil}
}

// needs of a hook.
var needs = map[string]string{steer.TCX: feature.BPFTCX, steer.Clsact: feature.BPFClsact}

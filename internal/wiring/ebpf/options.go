package ebpf

import (
	"cmp"
	_ "embed"
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
	// true. With false all packets go the new path at once, as they do where a
	// change has other ways lead to replicas, from branches, or past inline functions, and while a function fails.
	Stay *bool `json:"stay,omitempty"`
	// Census is how long after a change flows that come are taken for those from before, and `up` waits for it: one
	// without a packet in that while has none under way either. Default 250ms.
	Census api.Duration `json:"census,omitempty"`
	// Flows that are known: of each function with replicas, so that all packets of one go to the same
	// replica, and of those not seen for longest are forgotten, and go where new ones would; and of the chain while flows
	// stay on an older path, where those for which there is no room move. Default 65536.
	Flows int `json:"flows,omitempty" jsonschema:"minimum=1024,maximum=4194304"`
	// Idle is how long a flow has no packet until it is over, and goes the newest path: one that is not keeps a
	// replica that is to go for at most four times as long. Default 30s.
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
func (Wiring) Options() any { return &Options{} }

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
	return uint32(cmp.Or(o.Flows, defaultFlows)), cmp.Or(o.Idle, defaultIdle)
}

// ServicePath implements wiring.Encapsulating.
func (Wiring) ServicePath(options any) uint32 { return options.(*Options).ServicePath }

// stay is how flows stay on their path; nil where they do not.
func (o *Options) stay() *steer.Stay {
	if o.Stay != nil && !*o.Stay {
		return nil
	}
	known, idle := Wiring{}.Flows(o)
	return &steer.Stay{Flows: known, Idle: idle, Census: cmp.Or(o.Census, defaultCensus), Asked: o.Stay != nil}
}

// needs of a hook.
var needs = map[string]string{steer.TCX: feature.BPFTCX, steer.Clsact: feature.BPFClsact}

package ebpf

import (
	_ "embed"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// Options of the wiring.
type Options struct {
	// Hook is what holds the programs at the ports: tcx (Linux 6.6 and newer) or clsact.
	// Default: tcx where the kernel has it.
	Hook string `json:"hook,omitempty" jsonschema:"enum=tcx,enum=clsact"`
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

// needs of a hook.
var needs = map[string]string{steer.TCX: feature.BPFTCX, steer.Clsact: feature.BPFClsact}

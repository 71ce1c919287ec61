package steer

import (
	"nfchain.dev/nfchain/bpf/branch"
	"nfchain.dev/nfchain/bpf/classify"
	"nfchain.dev/nfchain/bpf/spread"
	"nfchain.dev/nfchain/bpf/stay"
	bpf "nfchain.dev/nfchain/bpf/steer"
	program "nfchain.dev/nfchain/bpf/versions"
	"nfchain.dev/nfchain/internal/resource/held"
)

// What this version's programs are loaded from.
var (
	steerObject  = held.Once(bpf.LoadProgram)
	spreadObject = held.Once(spread.LoadProgram)
	pathsObject  = held.Once(classify.LoadProgram)
	branchObject = held.Once(branch.LoadProgram)
	stayObject   = held.Once(stay.LoadProgram)
	aheadObject  = held.Once(program.LoadProgram)
)

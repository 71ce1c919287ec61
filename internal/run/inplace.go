package run

import (
	"cmp"
	"fmt"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/wiring"
)

// inPlace warns of functions that are changed where they are, under load that a forwarder would lead to others without a loss: what a namespace
// is for has its name, so that there is no other beside it meanwhile. Runtimes are those chosen for functions that leave theirs open.
func (h *Host) inPlace(chain api.Chain, runtimes map[string]string) (warnings []string) {
	kept, err := remembered(chain.Metadata.Name)
	if err != nil {
		return nil
	}
	was, err := h.Words.Decode(chain.Metadata.Name, kept.Document)
	if err != nil || len(was.Chains) == 0 || !h.steers(was.Chains[0]) || !h.steers(chain) {
		return nil
	}
	before := was.Chains[0].Spec
	for _, f := range chain.Spec.Functions {
		i := slices.IndexFunc(before.Functions, func(old api.Function) bool { return old.Name == f.Name })
		if i < 0 || f.Ref != "" || before.Functions[i].Ref != "" {
			continue
		}
		old := before.Functions[i]
		if old.Kind == f.Kind || !hasNamespace(before, old, kept.Runtimes) || !hasNamespace(chain.Spec, f, runtimes) {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("function %s was a %s and becomes a %s where it is, so that packets are lost meanwhile; under another name it is put in beside the %s, and none is", f.Name, old.Kind, f.Kind, old.Kind))
	}
	return warnings
}

// steers tells whether a chain's wiring sends packets on by itself.
func (h *Host) steers(chain api.Chain) bool {
	_, is := h.Catalogue.Wirings[chain.Spec.Wiring].(wiring.Steered)
	return is
}

// hasNamespace tells whether a function has one, of which some had theirs chosen.
func hasNamespace(s api.ChainSpec, f api.Function, chosen map[string]string) bool {
	return cmp.Or(chosen[f.Name], f.Runtime, s.Runtime) != api.RuntimeInline
}

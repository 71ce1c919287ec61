package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/wiring"
)

// inPlace warns of functions that are changed where they are: under load that a forwarder would lead to others without a loss, as what a namespace
// is for has its name, so that there is no other beside it meanwhile; and where connections have addresses that nothing leads to any more. Runtimes
// are those chosen for functions that leave theirs open.
func (h *Host) inPlace(chain api.Chain, runtimes map[string]string) (warnings []string) {
	kept, err := remembered(chain.Metadata.Name)
	if err != nil {
		return nil
	}
	was, err := h.Words.Decode(chain.Metadata.Name, kept.Document)
	if err != nil || len(was.Chains) == 0 {
		return nil
	}
	before, steers := was.Chains[0].Spec, h.steers(was.Chains[0]) && h.steers(chain)
	for _, f := range chain.Spec.Functions {
		i := slices.IndexFunc(before.Functions, func(old api.Function) bool { return old.Name == f.Name })
		if i < 0 || f.Ref != "" || before.Functions[i].Ref != "" {
			continue
		}
		old := before.Functions[i]
		warnings = append(warnings, unnamed(old, f)...)
		if !steers {
			continue
		}
		if what := becomes(old, f, runtimeOf(before, old, kept.Runtimes), runtimeOf(chain.Spec, f, runtimes)); what != "" {
			warnings = append(warnings, fmt.Sprintf("function %s %s where it is, so that packets are lost meanwhile; under another name it is put in beside the %s, and none is", f.Name, what, old.Kind))
		}
	}
	return warnings
}

// becomes tells what a function becomes for which what it has its packets by is made anew, if it has a namespace and had one, in these runtimes.
func becomes(old, f api.Function, was, is string) string {
	switch {
	case was == api.RuntimeInline || is == api.RuntimeInline:
		return ""
	case old.Kind != f.Kind:
		return fmt.Sprintf("was a %s and becomes a %s", old.Kind, f.Kind)
	case was != is:
		return fmt.Sprintf("was in runtime %s and comes to be in %s", was, is)
	case old.Encapsulation == "" && f.Encapsulation != "":
		return fmt.Sprintf("comes to get headers (encapsulation: %s)", f.Encapsulation)
	case old.Encapsulation != "" && f.Encapsulation == "":
		return fmt.Sprintf("gets headers (encapsulation: %s) no more", old.Encapsulation)
	}
	return ""
}

// unnamed warns of addresses that a function had connections by, and has no more.
func unnamed(old, f api.Function) []string {
	before, was := old.Options.(function.Addressed)
	now, is := f.Options.(function.Addressed)
	if !was || !is {
		return nil
	}
	var gone []string
	for _, a := range before.Named() {
		if !slices.Contains(now.Named(), a) {
			gone = append(gone, a.String())
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("function %s no longer has %s: connections that it gave that address, or that were sent there, end", f.Name, strings.Join(gone, " and "))}
}

// steers tells whether a chain's wiring sends packets on by itself.
func (h *Host) steers(chain api.Chain) bool {
	_, is := h.Catalogue.Wirings[chain.Spec.Wiring].(wiring.Steered)
	return is
}

// runtimeOf a function, of which some had theirs chosen.
func runtimeOf(s api.ChainSpec, f api.Function, chosen map[string]string) string {
	return cmp.Or(chosen[f.Name], f.Runtime, s.Runtime, api.RuntimeNetns)
}

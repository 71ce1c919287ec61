package run

import (
	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
)

// tenants adds whose the chains are that a chain may meet: in its addresses, and in
// functions that it goes through.
func (h *Host) tenants(chain api.Chain, f *plan.Facts) error {
	f.Tenants, f.Guests = map[string]string{}, map[string][]string{}
	for _, fn := range chain.Spec.Functions {
		if fn.Ref == "" {
			continue
		}
		guests, err := deploy.Guests(fn.Ref)
		if err != nil {
			return err
		}
		f.Guests[fn.Ref] = guests
		for _, name := range guests {
			h.noteTenant(name, f.Tenants)
		}
	}
	if chain.Spec.Tenant != "" {
		for name := range f.Blocks {
			h.noteTenant(name, f.Tenants)
		}
	}
	return nil
}

// noteTenant of a chain, if it is known and has one.
func (h *Host) noteTenant(name string, tenants map[string]string) {
	if file, err := h.Recall(name); err == nil && len(file.Chains) > 0 && file.Chains[0].Spec.Tenant != "" {
		tenants[name] = file.Chains[0].Spec.Tenant
	}
}

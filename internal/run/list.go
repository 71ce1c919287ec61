package run

import (
	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
)

// Live is a chain or standalone function of which something is there.
type Live struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// State is up, or partial when something of it is missing.
	State     string `json:"state"`
	Wiring    string `json:"wiring,omitempty"`
	Functions int    `json:"functions"`
	// Namespaces that are there.
	Namespaces int  `json:"namespaces"`
	Temporary  bool `json:"temporary"`
}

// List finds everything that is there.
func (h *Host) List() ([]Live, error) {
	owners, err := deploy.Owners()
	if err != nil {
		return nil, err
	}
	list := []Live{}
	for _, name := range owners {
		nodes, err := deploy.Nodes(name)
		if err != nil {
			return nil, err
		}
		live := Live{Name: name, Kind: "chain", State: "partial", Namespaces: len(nodes)}
		if r, err := remembered(name); err == nil {
			live.Temporary = r.Temporary
		}
		if file, err := h.Recall(name); err == nil {
			h.describe(&live, file)
		}
		list = append(list, live)
	}
	return list, nil
}

func (h *Host) describe(live *Live, file *api.File) {
	if len(file.Functions) > 0 {
		live.Kind, live.Functions = "function", 1
		if live.Namespaces == 1 {
			live.State = "up"
		}
		return
	}
	chain := file.Chains[0]
	live.Wiring, live.Functions = chain.Spec.Wiring, len(chain.Spec.Functions)
	want := 0
	for _, e := range chain.Spec.Endpoints {
		if e.Namespace == "" {
			want++
		}
	}
	for _, f := range chain.Spec.Functions {
		if f.Ref == "" {
			want++
		}
	}
	if live.Namespaces == want {
		live.State = "up"
	}
}

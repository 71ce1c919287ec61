package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
)

// Remembered is what is kept of a chain while it is up.
type Remembered struct {
	// Document is the chain or function, as JSON.
	Document json.RawMessage `json:"document"`
	// Functions that stand alone and that the chain goes through, as they were when
	// it was made, as JSON.
	Functions []json.RawMessage `json:"functions,omitempty"`
	// Temporary ones are made by bench and removed by it.
	Temporary bool `json:"temporary"`
	// Brought ones were brought up by a container that another runtime puts into them, and go with the last.
	Brought bool `json:"brought,omitempty"`
	// Direct tells that a temporary chain has the hop beside it.
	Direct bool `json:"direct,omitempty"`
	// Images that containers are made from, by the paths that they were made of: what is there may be another by now.
	Images map[string]string `json:"images,omitempty"`
	// Runtimes that were chosen for functions which leave it to the plan, by their names.
	Runtimes map[string]string `json:"runtimes,omitempty"`
	// Instances are the numbers of functions that came to be others under their names, by these.
	Instances map[string]int `json:"instances,omitempty"`
	// CPUs of which those of its placement were chosen: whoever asks later may run on fewer.
	CPUs []int `json:"cpus,omitempty"`
	// Files that options of its wiring name, their texts by their paths, likewise.
	Files map[string]string `json:"files,omitempty"`
}

// images that are remembered; nil where nothing is.
func (r *Remembered) images() map[string]string {
	if r == nil {
		return nil
	}
	return r.Images
}

// Recall reads what a chain or standalone function was made from.
func (h *Host) Recall(name string) (*api.File, error) {
	r, err := remembered(name)
	if err != nil {
		return nil, err
	}
	return h.Words.Decode(name, r.Document)
}

// functionsOf a chain that stand alone, as they were when it was made.
func (h *Host) functionsOf(r Remembered) []api.StandaloneFunction {
	var all []api.StandaloneFunction
	for _, text := range r.Functions {
		if file, err := h.Words.Decode("", text); err == nil {
			all = append(all, file.Functions...)
		}
	}
	return all
}

func remembered(name string) (r Remembered, err error) {
	text, err := deploy.Recall(name)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// remember a chain or function, with the functions it goes through.
func remember(name string, document any, through []api.StandaloneFunction, r Remembered) error {
	text, err := r.of(document, through)
	if err != nil {
		return err
	}
	return deploy.Remember(name, text)
}

// contained tells whether a plan has containers of engines.
func contained(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Resources, func(r resource.Resource) bool { return r.Kind == container.KindName })
}

// settle keeps what a chain was made from that is whole now: by that its containers are brought back, and edits that came to no end are taken back.
func settle(p *plan.Plan, document any, through []api.StandaloneFunction, r Remembered) error {
	text, err := r.of(document, through)
	if err != nil {
		return err
	}
	return deploy.Settle(p.Chain, text)
}

// Remembering is the command by which a plan's script keeps what the chain is made
// from, as Up does.
func (h *Host) Remembering(chain api.Chain, alone []api.StandaloneFunction, p *plan.Plan) (resource.Command, error) {
	through, err := h.through(chain, alone, nil)
	if err != nil {
		return resource.Command{}, err
	}
	text, err := Remembered{Images: p.Images(), Files: p.Files(), Runtimes: p.Runtimes, Instances: p.Instances}.of(chain, through)
	return deploy.Remembering(chain.Metadata.Name, text), err
}

// RememberingFunction is the command that does so for a standalone function.
func (h *Host) RememberingFunction(f api.StandaloneFunction) (resource.Command, error) {
	text, err := Remembered{}.of(f, nil)
	return deploy.Remembering(f.Metadata.Name, text), err
}

// of is the text that is kept of a chain or function.
func (r Remembered) of(document any, through []api.StandaloneFunction) ([]byte, error) {
	var err error
	if r.Document, err = json.Marshal(document); err != nil {
		return nil, err
	}
	for _, f := range through {
		text, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		r.Functions = append(r.Functions, text)
	}
	return json.Marshal(r)
}

// Temporary tells whether what has this name is a bench's, or was left by one.
func Temporary(name string) bool {
	r, err := remembered(name)
	return err == nil && r.Temporary
}

// ErrUnknown is returned for a name of which nothing is there.
var ErrUnknown = errors.New("there is no such chain")

// Chain recalls a chain that is up, or was.
func (h *Host) Chain(name string) (api.Chain, error) {
	file, err := h.recall(name)
	if err != nil {
		return api.Chain{}, err
	}
	if len(file.Chains) == 0 {
		return api.Chain{}, fmt.Errorf("%q is a standalone function, not a chain: %w", name, ErrUnknown)
	}
	return file.Chains[0], nil
}

func (h *Host) recall(name string) (*api.File, error) {
	file, err := h.Recall(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%q: %w; `nfchain ls` shows those there are", name, ErrUnknown)
	}
	return file, err
}

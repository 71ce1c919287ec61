package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/resource"
)

// Remembered is what is kept of a chain while it is up.
type Remembered struct {
	// Document is the chain or function, as JSON.
	Document json.RawMessage `json:"document"`
	// Temporary chains are made by bench and removed by it.
	Temporary bool `json:"temporary"`
}

// Recall reads what a chain or standalone function was made from.
func (h *Host) Recall(name string) (*api.File, error) {
	r, err := remembered(name)
	if err != nil {
		return nil, err
	}
	return h.Words.Decode(name, r.Document)
}

func remembered(name string) (r Remembered, err error) {
	text, err := deploy.Recall(name)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

func remember(name string, document any, temporary bool) error {
	text, err := memory(document, temporary)
	if err != nil {
		return err
	}
	return deploy.Remember(name, text)
}

// Remembering is the command by which a plan's script keeps what the chain is made
// from, as Up does.
func Remembering(chain api.Chain) (resource.Command, error) {
	text, err := memory(chain, false)
	return deploy.Remembering(chain.Metadata.Name, text), err
}

// memory is the text that is kept.
func memory(document any, temporary bool) ([]byte, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	return json.Marshal(Remembered{text, temporary})
}

// ErrUnknown is returned for a name of which nothing is there.
var ErrUnknown = errors.New("there is no such chain")

// Chain recalls a chain that is up, or was.
func (h *Host) Chain(name string) (api.Chain, error) {
	file, err := h.Recall(name)
	if errors.Is(err, fs.ErrNotExist) {
		return api.Chain{}, fmt.Errorf("%q: %w; `nfchain ls` shows those there are", name, ErrUnknown)
	}
	if err != nil {
		return api.Chain{}, err
	}
	if len(file.Chains) == 0 {
		return api.Chain{}, fmt.Errorf("%q is a standalone function, not a chain: %w", name, ErrUnknown)
	}
	return file.Chains[0], nil
}

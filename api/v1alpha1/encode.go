package v1alpha1

import "encoding/json"

// MarshalJSON writes the function as a file has it, its options under the key
// that is named like its kind.
func (f Function) MarshalJSON() ([]byte, error) {
	return withOptions(struct {
		Name string `json:"name"`
		plainBody
		Weights       []int    `json:"weights,omitempty"`
		Symmetric     *bool    `json:"symmetric,omitempty"`
		Ref           string   `json:"ref,omitempty"`
		Group         string   `json:"group,omitempty"`
		OnFailure     string   `json:"onFailure,omitempty"`
		Encapsulation string   `json:"encapsulation,omitempty"`
		MDType        int      `json:"mdType,omitempty"`
		Branches      []Branch `json:"branches,omitempty"`
		Next          string   `json:"next,omitempty"`
		Replace       string   `json:"replace,omitempty"`
	}{f.Name, plainBody(f.FunctionBody), f.Weights, f.Symmetric, f.Ref, f.Group, f.OnFailure, f.Encapsulation, f.MDType, f.Branches, f.Next, f.Replace}, f.FunctionBody)
}

// MarshalJSON writes it as a file has it, its options under the key that is named
// like its kind.
func (e Everywhere) MarshalJSON() ([]byte, error) {
	e.Replicas = 0 // a file cannot say it
	return withOptions(struct {
		plainBody
		Except []string `json:"except,omitempty"`
	}{plainBody(e.FunctionBody), e.Except}, e.FunctionBody)
}

// MarshalJSON writes the body as a file has it, its options under the key that
// is named like its kind.
func (b FunctionBody) MarshalJSON() ([]byte, error) {
	return withOptions(plainBody(b), b)
}

// plainBody is a FunctionBody without its MarshalJSON.
type plainBody FunctionBody

// MarshalJSON writes the chain as a file has it, options of wirings under their keys.
func (s ChainSpec) MarshalJSON() ([]byte, error) {
	type plain ChainSpec
	return withKeys(plain(s), s.WiringOptions)
}

// MarshalJSON writes the endpoint as a file has it, the options of its program under their key.
func (e Endpoint) MarshalJSON() ([]byte, error) {
	type plain Endpoint
	return withKeys(plain(e), e.Options)
}

func withOptions(v any, b FunctionBody) ([]byte, error) {
	if b.Options == nil || b.Kind == "" {
		return json.Marshal(v)
	}
	return withKeys(v, map[string]any{b.Kind: b.Options})
}

// withKeys appends keys to the JSON object that v makes.
func withKeys(v any, keys map[string]any) ([]byte, error) {
	object, err := json.Marshal(v)
	if err != nil || len(keys) == 0 {
		return object, err
	}
	more, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	return append(append(object[:len(object)-1], ','), more[1:]...), nil
}

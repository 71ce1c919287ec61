package v1alpha1

import "encoding/json"

// MarshalJSON writes the function as a file has it, its options under the key
// that is named like its kind.
func (f Function) MarshalJSON() ([]byte, error) {
	return withOptions(struct {
		Name string `json:"name"`
		plainBody
		Ref string `json:"ref,omitempty"`
	}{f.Name, plainBody(f.FunctionBody), f.Ref}, f.FunctionBody)
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

// withOptions appends the options to the JSON object that v makes.
func withOptions(v any, b FunctionBody) ([]byte, error) {
	object, err := json.Marshal(v)
	if err != nil || b.Options == nil || b.Kind == "" {
		return object, err
	}
	options, err := json.Marshal(map[string]any{b.Kind: b.Options})
	if err != nil {
		return nil, err
	}
	return append(append(object[:len(object)-1], ','), options[1:]...), nil
}

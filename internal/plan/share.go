package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/words"
)

// Sharing is several tenants' chains with one function in the place of identical ones.
type Sharing struct {
	SchemaVersion int `json:"schema_version"`
	// Shared are the functions that more than one chain goes through.
	Shared []Shared `json:"shared"`
	// Unshared are functions that several chains have alike and that are not shared.
	Unshared []Unshared `json:"unshared"`
	// NamespacesSaved is how many fewer there are.
	NamespacesSaved int `json:"namespaces_saved"`
	// Functions and Chains are what the files become.
	Functions []api.StandaloneFunction `json:"functions"`
	Chains    []api.Chain              `json:"chains"`
}

// Shared is a function with those in whose place it is.
type Shared struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Of   []Of   `json:"of"`
}

// Of is a function of a chain.
type Of struct {
	Chain    string `json:"chain"`
	Function string `json:"function"`
}

// Unshared is a function that stays in its chain, and why.
type Unshared struct {
	Of
	Why string `json:"why"`
}

// Share puts one function that stands alone in the place of those that several chains
// have alike: the first of one chain goes with the first of another, the second with the
// second. Each chain is of a tenant then, by default of its own.
func Share(f *api.File, c Catalogue, has func(feature string) bool) (*Sharing, error) {
	s := &Sharing{SchemaVersion: 1, Shared: []Shared{}, Unshared: []Unshared{}, Functions: append([]api.StandaloneFunction{}, f.Functions...), Chains: slices.Clone(f.Chains)}
	alike, order, err := identical(f.Chains)
	if err != nil {
		return nil, err
	}
	for i := range s.Chains {
		s.Chains[i].Spec.Tenant = cmp.Or(s.Chains[i].Spec.Tenant, s.Chains[i].Metadata.Name)
		s.Chains[i].Spec.Functions = slices.Clone(s.Chains[i].Spec.Functions)
	}
	for _, key := range order {
		s.merge(key, slices.DeleteFunc(alike[key], func(at [2]int) bool { return s.stays(at, c, has) }))
	}
	return s, nil
}

// identical gives the functions of the chains that are alike, by what they are: the
// index of the chain and of the function. What only one chain has is left out.
func identical(chains []api.Chain) (alike map[string][][2]int, order []string, err error) {
	all := map[string][][2]int{}
	for i, chain := range chains {
		nth := map[string]int{}
		for j, f := range chain.Spec.Functions {
			if f.Ref != "" || f.Group != "" || f.Replicas > 1 {
				continue
			}
			f.FunctionBody.Runtime = cmp.Or(f.FunctionBody.Runtime, chain.Spec.Runtime)
			text, err := json.Marshal(f.FunctionBody)
			if err != nil {
				return nil, nil, err
			}
			nth[string(text)]++
			key := fmt.Sprintf("%s %d", text, nth[string(text)])
			if len(all[key]) == 0 {
				order = append(order, key)
			}
			all[key] = append(all[key], [2]int{i, j})
		}
	}
	order = slices.DeleteFunc(order, func(key string) bool { return len(all[key]) < 2 })
	return all, order, nil
}

// stays tells whether a function that others are like stays in its chain, and notes why.
func (s *Sharing) stays(at [2]int, c Catalogue, has func(feature string) bool) bool {
	chain := s.Chains[at[0]]
	f := chain.Spec.Functions[at[1]]
	why := c.unshared(f.FunctionBody, has)
	switch {
	case why != "":
	case cmp.Or(f.Runtime, chain.Spec.Runtime) == api.RuntimeInline:
		why = "it is inline, and has no namespace"
	case f.Direction != api.Both && f.Direction != "":
		why = "it acts on one direction, and one that stands alone acts on both"
	case slices.ContainsFunc(chain.Spec.Everywhere, func(e api.Everywhere) bool { return !slices.Contains(e.Except, f.Name) }):
		why = "functions that are everywhere act in its namespace too; write except: [" + f.Name + "]"
	case len(namespaceSettings(chain.Spec.Tuning)) > 0:
		why = "tuning sets TCP in each of the chain's namespaces"
	default:
		return false
	}
	s.Unshared = append(s.Unshared, Unshared{Of{chain.Metadata.Name, f.Name}, why})
	return true
}

// merge functions into one, if more than one is left.
func (s *Sharing) merge(key string, all [][2]int) {
	if len(all) < 2 {
		return
	}
	chain := s.Chains[all[0][0]]
	f := chain.Spec.Functions[all[0][1]]
	shared := Shared{Name: fmt.Sprintf("shared-%s-%08x", f.Kind, uint32(hash("shared", key))), Kind: f.Kind, Of: []Of{}}
	alone := api.StandaloneFunction{APIVersion: api.Version, Kind: api.KindFunction, Metadata: api.Metadata{Name: shared.Name}, Spec: f.FunctionBody}
	alone.Spec.Runtime = cmp.Or(alone.Spec.Runtime, chain.Spec.Runtime)
	for _, at := range all {
		own := &s.Chains[at[0]].Spec.Functions[at[1]]
		shared.Of = append(shared.Of, Of{s.Chains[at[0]].Metadata.Name, own.Name})
		*own = api.Function{Name: own.Name, Ref: shared.Name, Symmetric: own.Symmetric}
	}
	s.Shared, s.Functions = append(s.Shared, shared), append(s.Functions, alone)
	s.NamespacesSaved += len(all) - 1
}

// Text says what is shared, for a person.
func (s *Sharing) Text() string {
	var b strings.Builder
	for _, shared := range s.Shared {
		names := make([]string, len(shared.Of))
		for i, of := range shared.Of {
			names[i] = of.Chain + "/" + of.Function
		}
		fmt.Fprintf(&b, "%s (%s) is in the place of %s\n", shared.Name, shared.Kind, strings.Join(names, ", "))
	}
	for _, u := range s.Unshared {
		fmt.Fprintf(&b, "%s/%s is not shared: %s\n", u.Chain, u.Function, u.Why)
	}
	fmt.Fprintf(&b, "%s saved\n", words.Plural(s.NamespacesSaved, "namespace"))
	return b.String()
}

package v1alpha1

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"nfchain.dev/nfchain/api/v1alpha1/internal/strict"
	"nfchain.dev/nfchain/api/v1alpha1/internal/tree"
)

// Template is the chain and the load of an experiment, into which values are put by
// the paths of fields, and which is then read as strictly as a file that says so.
type Template struct {
	catalogue Catalogue
	swept     sweep
	root      *tree.Node
	mixes     map[string]*tree.Node
	// everywhere of those mixes that say it.
	everywhere map[string]*tree.Node
}

// Setting is a value for a factor that [InTemplate] knows.
type Setting struct {
	Field string
	Value any
}

// filled is what a template reads in.
type filled struct {
	Chain ChainSpec `json:"chain"`
	Load  Load      `json:"load"`
}

// Template of an experiment that was decoded.
func (c Catalogue) Template(s ExperimentSpec) (*Template, error) {
	swept := sweep{&s, map[string]*factor{}, false}
	for _, fac := range s.Sweep {
		swept.factors[fac.Field] = &factor{values: fac.Values}
	}
	for _, cell := range s.Cells {
		for field, v := range cell {
			swept.note(field, v, "", nil)
		}
	}
	return c.template(swept)
}

func (c Catalogue) template(swept sweep) (*Template, error) {
	t := &Template{catalogue: c, swept: swept, mixes: map[string]*tree.Node{}, everywhere: map[string]*tree.Node{}}
	var err error
	if t.root, err = nodeOf(filled{swept.spec.Chain, swept.spec.Load}); err != nil {
		return nil, err
	}
	for _, m := range swept.spec.Mixes {
		functions := m.Functions
		if functions == nil {
			functions = []Function{}
		}
		if t.mixes[m.Name], err = nodeOf(functions); err != nil {
			return nil, err
		}
		if m.Everywhere == nil {
			continue
		}
		if t.everywhere[m.Name], err = nodeOf(m.Everywhere); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// nodeOf a value as a file has it.
func nodeOf(v any) (*tree.Node, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	docs, errs := tree.Parse(text)
	if len(errs) > 0 {
		return nil, errors.New(errs[0].Message)
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%d documents in one value", len(docs))
	}
	return docs[0], nil
}

// With is the chain and the load with the values put in: a mix first, then the
// shortest paths first. What is wrong with them comes with paths from chain or load.
func (t *Template) With(settings []Setting) (ChainSpec, Load, []FieldProblem) {
	out, _, problems := t.fill(settings)
	return out.Chain, out.Load, problems
}

// fill puts the values in and tells where each went.
func (t *Template) fill(settings []Setting) (filled, []string, []FieldProblem) {
	root, places := t.root, make([]string, len(settings))
	var problems []FieldProblem
	for _, i := range inOrder(settings) {
		value, err := t.value(settings[i])
		changed := root
		if err == nil {
			changed, places[i], err = put(root, "", steps(pathOf(settings[i].Field)), value)
		}
		if err == nil {
			changed, err = t.beside(changed, settings[i])
		}
		if err != nil {
			problems = append(problems, FieldProblem{pathOf(settings[i].Field), err.Error()})
			continue
		}
		root = changed
	}
	out, more := t.read(root)
	return out, places, append(problems, more...)
}

// inOrder are the indices of settings, those that others may go into first.
func inOrder(settings []Setting) []int {
	order := make([]int, len(settings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return len(steps(pathOf(settings[a].Field))) - len(steps(pathOf(settings[b].Field)))
	})
	return order
}

// beside the functions of a mix is what it has everywhere.
func (t *Template) beside(root *tree.Node, s Setting) (*tree.Node, error) {
	name, _ := s.Value.(string)
	if s.Field != FactorMix || t.everywhere[name] == nil {
		return root, nil
	}
	changed, _, err := put(root, "", steps("chain.everywhere"), t.everywhere[name])
	return changed, err
}

func (t *Template) value(s Setting) (*tree.Node, error) {
	if s.Field == FactorMix {
		name, _ := s.Value.(string)
		if t.mixes[name] == nil {
			return nil, fmt.Errorf("there is no mix %q", name)
		}
		return t.mixes[name], nil
	}
	return nodeOf(s.Value)
}

func (t *Template) read(root *tree.Node) (filled, []FieldProblem) {
	d := strict.New(t.catalogue.unions()...)
	out := filled{DefaultChainSpec(), DefaultLoad()}
	d.Decode(root, &out)
	at := place{d, "chain"}
	at.report(t.catalogue.checkChain(&out.Chain, at))
	load := place{d, "load"}
	load.report(t.catalogue.CheckLoad(t.swept.on(out.Load)))
	load.report(out.Load.checkNothing(load))
	if !load.has("duration") {
		out.Load.Duration = 0 // each point's own, as where no template is needed
	}
	var problems []FieldProblem
	for _, p := range d.Problems {
		problems = append(problems, FieldProblem{p.Path, p.Message})
	}
	return out, problems
}

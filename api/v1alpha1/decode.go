package v1alpha1

import (
	"fmt"

	"nfchain.dev/nfchain/api/v1alpha1/internal/nearest"
	"nfchain.dev/nfchain/api/v1alpha1/internal/strict"
	"nfchain.dev/nfchain/api/v1alpha1/internal/tree"
)

// File is what one file declares, each list in the file's order.
type File struct {
	Chains      []Chain
	Functions   []StandaloneFunction
	Experiments []Experiment
}

// Decode reads a file of one or more documents, YAML or JSON, with defaults
// filled in. If anything is wrong the error is a [Problems] with all of it, and
// there is no File; filename only appears in it.
func (c Catalogue) Decode(filename string, data []byte) (*File, error) {
	r := reader{catalogue: c, filename: filename, names: map[string]int{}}
	docs, errs := tree.Parse(data)
	for _, e := range errs {
		r.problem(e.Pos, "", e.Message)
	}
	if len(docs) == 0 && len(errs) == 0 {
		r.problem(tree.Pos{Line: 1, Column: 1}, "", "the file is empty")
	}
	for _, doc := range docs {
		r.document(doc)
	}
	if len(r.problems) > 0 {
		r.problems.sort()
		return nil, r.problems
	}
	return &r.file, nil
}

// reader takes the documents of one file in.
type reader struct {
	catalogue Catalogue
	filename  string
	file      File
	problems  Problems
	// names gives the line of each name taken, by kind and name.
	names map[string]int
}

func (r *reader) problem(at tree.Pos, path, message string) {
	r.problems = append(r.problems, Problem{r.filename, at.Line, at.Column, path, message})
}

func (r *reader) document(doc *tree.Node) {
	d := strict.New(r.catalogue.union())
	switch kind := kindOf(doc); kind.Text {
	case KindChain:
		r.chain(d, doc)
	case KindFunction:
		r.function(d, doc)
	case KindExperiment:
		r.experiment(d, doc)
	default:
		r.wrongKind(doc, kind)
	}
	for _, p := range d.Problems {
		r.problem(p.Pos, p.Path, p.Message)
	}
}

func (r *reader) chain(d *strict.Decoder, doc *tree.Node) {
	chain := Chain{Spec: DefaultChainSpec()}
	d.Decode(doc, &chain)
	r.metadata(d, KindChain, chain.Metadata)
	spec := place{d, "spec"}
	spec.report(r.catalogue.checkChain(&chain.Spec, spec))
	r.file.Chains = append(r.file.Chains, chain)
}

func (r *reader) function(d *strict.Decoder, doc *tree.Node) {
	function := StandaloneFunction{Spec: FunctionBody{Runtime: "netns"}}
	function.Spec.SetDefaults()
	d.Decode(doc, &function)
	r.metadata(d, KindFunction, function.Metadata)
	spec := place{d, "spec"}
	spec.report(r.catalogue.checkBody(function.Spec, "", spec))
	r.file.Functions = append(r.file.Functions, function)
}

func (r *reader) experiment(d *strict.Decoder, doc *tree.Node) {
	experiment := Experiment{Spec: ExperimentSpec{Chain: DefaultChainSpec(), Load: DefaultLoad()}}
	d.Decode(doc, &experiment)
	r.metadata(d, KindExperiment, experiment.Metadata)
	spec := place{d, "spec"}
	spec.report(r.catalogue.checkExperiment(&experiment.Spec, spec))
	r.file.Experiments = append(r.file.Experiments, experiment)
}

func (r *reader) metadata(d *strict.Decoder, kind string, m Metadata) {
	const path = "metadata.name"
	if err := CheckName(m.Name); err != nil {
		d.Report(path, err.Error())
		return
	}
	key := kind + "/" + m.Name
	if line, taken := r.names[key]; taken {
		d.Report(path, fmt.Sprintf("%s %s is already declared in line %d", kind, m.Name, line))
		return
	}
	r.names[key] = d.Place(path).Line
}

// kindOf finds the document's kind, or the place where it is missed.
func kindOf(doc *tree.Node) *tree.Node {
	for _, e := range doc.Entries {
		if e.Key == "kind" {
			return e.Value
		}
	}
	return &tree.Node{Pos: doc.Pos}
}

func (r *reader) wrongKind(doc, kind *tree.Node) {
	kinds := []string{KindChain, KindFunction, KindExperiment}
	switch {
	case doc.Kind != tree.Map:
		r.problem(doc.Pos, "", fmt.Sprintf("a document with apiVersion, kind, metadata and spec is expected, found %s", doc.Kind))
	case kind.Text == "":
		r.problem(kind.Pos, "kind", "is missing"+nearest.Hint("", kinds))
	default:
		r.problem(kind.Pos, "kind", quote(kind.Text)+" is not a kind of document"+nearest.Hint(kind.Text, kinds))
	}
}

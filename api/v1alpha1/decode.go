package v1alpha1

import (
	"fmt"
	"slices"

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
	r := c.take(filename, data)
	if len(r.problems) > 0 {
		r.problems.Sort()
		return nil, r.problems
	}
	return &r.file, nil
}

// Taken is a file as far as it can be read, whatever is wrong in it.
func (c Catalogue) Taken(filename string, data []byte) *File { return &c.take(filename, data).file }

// Wrong is a problem with a document of a file, by its kind and name, that only shows when
// all of it is looked at. It is at the field, or at the nearest that holds it; where that would be the
// whole of the document, it is where this has its name.
func (c Catalogue) Wrong(filename string, data []byte, kind, name, path, message string) Problem {
	taken := c.take(filename, data).names[kind+"/"+name]
	at := taken.Pos
	if taken.document != nil && taken.document.Within(path, "spec") {
		at = taken.document.Place(path)
	}
	return Problem{filename, at.Line, at.Column, path, message, nearest.Suggested(message)}
}

// take a file's documents in.
func (c Catalogue) take(filename string, data []byte) *reader {
	r := &reader{catalogue: c, filename: filename, names: map[string]named{}}
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
	return r
}

// reader takes the documents of one file in.
type reader struct {
	catalogue Catalogue
	filename  string
	file      File
	problems  Problems
	// names gives the documents, by kind and name.
	names map[string]named
}

// named is where a document has its name, and what was read of it.
type named struct {
	tree.Pos
	document *strict.Decoder
}

func (r *reader) problem(at tree.Pos, path, message string) {
	r.problems = append(r.problems, Problem{r.filename, at.Line, at.Column, path, message, nearest.Suggested(message)})
}

func (r *reader) document(doc *tree.Node) {
	d := strict.New(r.catalogue.unions()...)
	kind := kindOf(doc)
	switch meant := nearest.Word(kind.Text, kinds); {
	case doc.Kind == tree.Map && meant != "" && meant != kind.Text:
		r.problem(kind.Pos, "kind", notAKind(kind.Text))
		doc, kind = withKind(doc, meant), &tree.Node{Text: meant}
	}
	switch kind.Text {
	case KindChain:
		r.chain(d, doc)
	case KindFunction:
		r.function(d, doc)
	case KindExperiment:
		r.experiment(d, doc)
	default:
		r.wrongKind(d, doc, kind)
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
	function := StandaloneFunction{Spec: FunctionBody{Runtime: RuntimeNetns}}
	function.Spec.SetDefaults()
	d.Decode(doc, &function)
	r.metadata(d, KindFunction, function.Metadata)
	spec := place{d, "spec"}
	spec.report(r.catalogue.checkBody(function.Spec, spec))
	r.file.Functions = append(r.file.Functions, function)
}

func (r *reader) experiment(d *strict.Decoder, doc *tree.Node) {
	experiment := Experiment{Spec: ExperimentSpec{Chain: DefaultChainSpec(), Load: DefaultLoad()}}
	d.Decode(doc, &experiment)
	r.metadata(d, KindExperiment, experiment.Metadata)
	spec := place{d, "spec"}
	spec.report(r.catalogue.checkExperiment(&experiment.Spec, spec))
	if !spec.has("load.duration") {
		experiment.Spec.Load.Duration = 0 // each point's own: its protocol may be swept
	}
	r.file.Experiments = append(r.file.Experiments, experiment)
}

func (r *reader) metadata(d *strict.Decoder, kind string, m Metadata) {
	const path = "metadata.name"
	if err := CheckName(m.Name); err != nil {
		d.Report(path, err.Error())
		return
	}
	key := kind + "/" + m.Name
	if first, taken := r.names[key]; taken {
		d.Report(path, fmt.Sprintf("%s %s is already declared in line %d", kind, m.Name, first.Line))
		return
	}
	r.names[key] = named{d.Place(path), d}
}

// kinds of document.
var kinds = []string{KindChain, KindFunction, KindExperiment}

// kindOf finds the document's kind, under a misspelt key if need be, or the
// place where it is missed.
func kindOf(doc *tree.Node) *tree.Node {
	kind := &tree.Node{Pos: doc.Pos}
	for _, e := range doc.Entries {
		if e.Key == "kind" {
			return e.Value
		}
		if slices.Contains(kinds, e.Value.Text) && nearest.Word(e.Key, []string{"kind"}) != "" {
			kind = e.Value
		}
	}
	return kind
}

// withKind is the document as if it had that kind.
func withKind(doc *tree.Node, kind string) *tree.Node {
	meant := *doc
	meant.Entries = slices.Clone(doc.Entries)
	for i, e := range meant.Entries {
		if e.Key == "kind" {
			value := *e.Value
			value.Text = kind
			meant.Entries[i].Value = &value
		}
	}
	return &meant
}

// withoutSpec is the document with a word for its spec, if it has one.
func withoutSpec(doc *tree.Node) *tree.Node {
	bare := *doc
	bare.Entries = slices.Clone(doc.Entries)
	for i, e := range bare.Entries {
		if e.Key == "spec" && e.Value.Kind != tree.Null {
			bare.Entries[i].Value = &tree.Node{Pos: e.Value.Pos, Kind: tree.Text}
		}
	}
	return &bare
}

// envelope is what documents of every kind have in common.
type envelope struct {
	APIVersion string   `json:"apiVersion" jsonschema:"required,enum=nfchain.dev/v1alpha1"`
	Kind       any      `json:"kind"`
	Metadata   Metadata `json:"metadata" jsonschema:"required"`
	Spec       string   `json:"spec" jsonschema:"required"`
}

// wrongKind reports what is wrong with a document whatever its kind may be.
func (r *reader) wrongKind(d *strict.Decoder, doc, kind *tree.Node) {
	if doc.Kind != tree.Map {
		r.problem(doc.Pos, "", fmt.Sprintf("a document with apiVersion, kind, metadata and spec is expected, found %s", doc.Kind))
		return
	}
	var e envelope
	d.Decode(withoutSpec(doc), &e)
	if err := CheckName(e.Metadata.Name); err != nil {
		d.Report("metadata.name", err.Error())
	}
	d.Report("kind", notAKind(kind.Text))
}

func notAKind(kind string) string {
	if kind == "" {
		return "is missing" + nearest.Hint("", kinds)
	}
	return quote(kind) + " is not a kind of document" + nearest.Hint(kind, kinds)
}

package registry

import (
	"fmt"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/images"
	"nfchain.dev/nfchain/internal/function"
)

// Kind is what there is to know of a kind of function.
type Kind struct {
	Name string `json:"kind"`
	Does string `json:"does"`
	// Runtimes that a function of the kind can have.
	Runtimes []string `json:"runtimes"`
	// Contained are the options without which it cannot be in a container; "" where it can with any.
	Contained string `json:"contained,omitempty"`
	// Image that its container is made from.
	Image string `json:"image"`
	// Capabilities that its container has, in words.
	Capabilities string `json:"capabilities"`
	// Hugepages tells that resources: {hugepages: ...} is for it.
	Hugepages bool `json:"hugepages"`
	// Requires are the features of the machine that it needs where a file gives no options.
	Requires []string     `json:"requires"`
	Options  []api.Option `json:"options"`
	// Example of a function of the kind, in a chain by itself.
	Example string `json:"example"`
}

// What containers are made from, and the capabilities that they have.
const (
	anyImage     = "any: container: {image: NAME}"
	emptyImage   = "one with nothing in it, which nfchain makes: it is the kernel's work"
	given        = "; container: {capabilities: [...]} has it have those and no others"
	none         = "none: nfchain works in its network from outside"
	exampleBegin = "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: shown}\nspec:\n  functions:\n"
)

// Kinds of functions that there are, in the order of the list above.
func Kinds() []Kind {
	var all []Kind
	for _, k := range functions {
		all = append(all, described(k))
	}
	return all
}

func described(k function.Kind) Kind {
	shown := k.Shows()
	d := Kind{
		Name: k.Name(), Does: shown.Does, Runtimes: runtimesOf(k), Contained: shown.Contained, Image: emptyImage, Capabilities: none,
		Requires: append([]string{}, k.Requires(k.Options())...), Options: Words().OptionsOf(k.Name()),
		Example: exampleBegin + "  - name: " + k.Name() + "\n    kind: " + k.Name() + "\n",
	}
	if _, is := k.Options().(api.Programmed); is {
		d.Image = anyImage
		if slices.ContainsFunc(images.All(), func(i images.Image) bool { return i.Name == k.Name() }) {
			d.Image += "; images/" + k.Name() + " has what it takes"
		}
	}
	if capable, is := k.(function.Capable); is {
		d.Capabilities = strings.Join(capable.Capabilities(), ", ") + given
	}
	_, d.Hugepages = k.(function.Hugepager)
	if shown.Example != "" {
		d.Example += "    " + k.Name() + ": " + shown.Example + "\n"
	}
	return d
}

// runtimesOf a kind: all, but that not every kind has steps to be inline by, or leaves its work to a container of others.
func runtimesOf(k function.Kind) []string {
	_, inline := k.(function.Inline)
	_, vacant := k.(function.Vacant)
	return slices.DeleteFunc(slices.Clone(runtimes), func(runtime string) bool {
		return runtime == api.RuntimeInline && !inline || runtime == api.RuntimeCNI && !vacant
	})
}

// Image of a function that is built here, by `make images`.
type Image struct {
	// Path of its directory in the tree.
	Path string `json:"image"`
	Does string `json:"does"`
	// Capabilities that its program needs.
	Capabilities []string `json:"capabilities"`
	// Options of it, which are variables of its environment.
	Options []images.Option `json:"options"`
	// Example is a chain that has it, as beside the directory.
	Example string `json:"example"`
}

// Images of functions that are built here, by their names in order.
func Images() ([]Image, error) {
	var all []Image
	for _, i := range images.All() {
		shown := Image{Path: "images/" + i.Name, Does: i.Is, Capabilities: []string{}, Options: append([]images.Option{}, i.Options...), Example: i.Chain}
		file, err := Words().Decode(shown.Path, []byte(i.Chain))
		if err != nil {
			return nil, err
		}
		if len(file.Chains) != 1 || len(file.Chains[0].Spec.Functions) == 0 || file.Chains[0].Spec.Functions[0].Container == nil {
			return nil, fmt.Errorf("%s.yaml: the first function of a chain is to be the image", shown.Path)
		}
		if c := file.Chains[0].Spec.Functions[0].Container.Capabilities; c != nil {
			shown.Capabilities = append(shown.Capabilities, *c...)
		}
		all = append(all, shown)
	}
	return all, nil
}

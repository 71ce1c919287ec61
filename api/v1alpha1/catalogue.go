package v1alpha1

import (
	"fmt"
	"reflect"
	"slices"

	"nfchain.dev/nfchain/api/v1alpha1/internal/nearest"
	"nfchain.dev/nfchain/api/v1alpha1/internal/strict"
)

// Catalogue says which words a file may use beyond this package's own.
type Catalogue struct {
	// Functions gives for each kind a pointer to a fresh option struct, filled
	// with its defaults. Fields go by their json tag; of the jsonschema tag,
	// required, enum, minimum and maximum are enforced. A type that reads text
	// (encoding.TextUnmarshaler) is written as a scalar. An option struct may
	// be a [Validator]; an item of a list in it may have SetDefaults().
	Functions map[string]func() any
	// Wirings gives the same for each wiring.
	Wirings map[string]func() any
	// Replicating are the wirings over which functions can have replicas.
	Replicating []string
	// Branching are the wirings over which functions can send packets on to others than the next.
	Branching []string
	// EndpointKind is the kind of function whose work endpoints can do too; "" where there is none.
	EndpointKind string
	// Runtimes and Tools are the known names. "auto" is always a tool.
	Runtimes, Tools []string
}

// Validator is an option struct that has rules its type cannot say. The paths
// it returns are relative to the options: classes[0].rate. It is asked even if
// some fields could not be read; they hold their defaults or any other value.
type Validator interface{ Validate() []FieldProblem }

// Answered is an option struct with which a function may have to see the answers to what it sees.
type Answered interface {
	// NeedsAnswers gives why, or "" where it does not.
	NeedsAnswers() string
}

// NeedsAnswers gives why a function must be visited both ways, or "".
func (b FunctionBody) NeedsAnswers() string {
	if o, may := b.Options.(Answered); may {
		return o.NeedsAnswers()
	}
	return ""
}

// union tells the decoder how a function's options follow from its kind.
func (c Catalogue) union() strict.Union {
	return strict.Union{
		In:      reflect.TypeFor[FunctionBody](),
		Kind:    "Kind",
		Options: "Options",
		New:     c.Functions,
	}
}

// wirings tells the decoder which options a chain may have for its wiring. Those of
// other wirings may stay in a file, so that `wiring` is the only edit between two.
func (c Catalogue) wirings() strict.Union {
	return strict.Union{
		In:      reflect.TypeFor[ChainSpec](),
		Kind:    "Wiring",
		Options: "WiringOptions",
		New:     c.Wirings,
		All:     true,
	}
}

// endpoints tells the decoder that endpoints may have the options of a kind of function.
func (c Catalogue) endpoints() strict.Union {
	u := strict.Union{In: reflect.TypeFor[Endpoint](), Options: "Options", New: map[string]func() any{}, All: true}
	if c.EndpointKind != "" {
		u.New[c.EndpointKind] = c.Functions[c.EndpointKind]
	}
	return u
}

// unions are all that the decoder is told.
func (c Catalogue) unions() []strict.Union {
	return []strict.Union{c.union(), c.wirings(), c.endpoints()}
}

func (c Catalogue) tools() []string { return append([]string{ToolAuto}, c.Tools...) }

// unknown is the message about a word that is not among the known ones, or "".
func unknown(word, what string, known []string) string {
	if slices.Contains(known, word) {
		return ""
	}
	return fmt.Sprintf("%s is not a %s%s", quote(word), what, nearest.Hint(word, known))
}

func quote(text string) string { return strict.Quote(text) }

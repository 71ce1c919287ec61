package v1alpha1

// Experiment is a chain, a load, what to vary, and what is claimed of it.
type Experiment struct {
	// APIVersion and Kind say what the document is.
	APIVersion string         `json:"apiVersion" jsonschema:"required,enum=nfchain.dev/v1alpha1"`
	Kind       string         `json:"kind" jsonschema:"required,enum=Experiment"`
	Metadata   Metadata       `json:"metadata" jsonschema:"required"`
	Spec       ExperimentSpec `json:"spec" jsonschema:"required"`
}

// ExperimentSpec is the body of an Experiment.
type ExperimentSpec struct {
	// Source is the publication that is reproduced, if one is.
	Source *Source `json:"source,omitempty"`
	// Chain is the chain at every point of the sweep, before the point's values.
	Chain ChainSpec `json:"chain,omitempty"`
	// Load is what is offered at every point, before the point's values.
	Load Load `json:"load,omitempty"`
	// Mixes are lists of functions that the factor mix puts in the place of the chain's.
	Mixes []Mix `json:"mixes,omitempty"`
	// Sweep lists the factors; every combination of values is a condition.
	Sweep []Factor `json:"sweep,omitempty"`
	// Cells lists combinations of factors by field, instead of every combination; with
	// a sweep too, each cell is combined with every combination of that.
	Cells []map[string]any `json:"cells,omitempty"`
	// Quick replaces parts of Load under --quick; such runs are marked.
	Quick *Load `json:"quick,omitempty"`
	// Seed of the order of trials. 0: drawn, and recorded.
	Seed int64 `json:"seed,omitempty"`
	// Reference has values that the source prints.
	Reference []Reference `json:"reference,omitempty"`
	// Models are fitted to what was measured.
	Models []Model `json:"models,omitempty"`
	// Claims are held to what was measured.
	Claims []Claim `json:"claims,omitempty"`
}

// Source says where an experiment was published.
type Source struct {
	// ID is author+year, as in the experiment ids: livi2016.
	ID string `json:"id" jsonschema:"required"`
	// Title of the publication.
	Title string `json:"title" jsonschema:"required"`
	// At is the section, figure or table.
	At string `json:"at,omitempty"`
	// Machine is what the source measured on.
	Machine string `json:"machine,omitempty"`
}

// Factor is one thing that is varied: length (namespaces, both ends included),
// copies (of the whole list of functions) or copies.NAME (of one of them), mix (one of
// Mixes), protocol, wiring, mtu, another field of Load by its JSON name, or any field
// of the chain or the load by its path, such as chain.functions[0].firewall.default or
// chain.functions[fw].shaper.rate. Flows may be as many as the machine has cores, or a
// share or multiple of that: cores, cores/2, cores*2. After decoding, Values and whatever
// selects by them are int for length, copies, flows, payload_size (bytes) and rate
// (bit/s), bool for zerocopy, what the file has for paths and string for the rest, flows
// by cores among it, so that == tells whether two are the same.
type Factor struct {
	// Field is what is varied.
	Field string `json:"field" jsonschema:"required"`
	// Values that it has, one after another.
	Values []any `json:"values" jsonschema:"required,minItems=1"`
}

// Mix is a list of functions under a name.
type Mix struct {
	// Name by which the factor mix takes it.
	Name string `json:"name" jsonschema:"required"`
	// Functions in path order.
	Functions []Function `json:"functions,omitempty"`
	// Everywhere are functions that act in each namespace, in the place of the chain's.
	// Default: the chain's.
	Everywhere []Everywhere `json:"everywhere,omitempty"`
}

// Reference is one value the source prints.
type Reference struct {
	// At are the factor values it belongs to.
	At map[string]any `json:"at" jsonschema:"required"`
	// Metric, Value in the unit of the metric's name, and a Note for who reads it.
	Metric string  `json:"metric" jsonschema:"required"`
	Value  float64 `json:"value" jsonschema:"required"`
	Note   string  `json:"note,omitempty"`
}

// Model is a fit over the conditions of an experiment. docs/statistics.md tells what each
// kind is, where it comes from and how sure its parameters are.
type Model struct {
	// Name by which claims take it.
	Name string `json:"name" jsonschema:"required"`
	// Kind: loss_per_hop (each hop loses the same share), cost_per_hop (each hop adds the
	// same time to a packet's), fading (the share that a hop loses gets less), shared_cores
	// (flows, hops and cores), two_factor (what a switch loses and what a namespace loses),
	// usl (the universal scalability law over flows), per_rule, per_container and
	// delay_per_hop (so much more for each), container_step (per_container with one jump).
	Kind string `json:"kind" jsonschema:"required,enum=loss_per_hop,enum=cost_per_hop,enum=fading,enum=shared_cores,enum=two_factor,enum=usl,enum=per_rule,enum=per_container,enum=container_step,enum=delay_per_hop"`
	// Metric that it is fitted to: a rate (_bps, _pps, _per_second) or a time (_ns, _s).
	Metric string `json:"metric" jsonschema:"required"`
	// Where restricts the conditions by factor value.
	Where map[string]any `json:"where,omitempty"`
	// Over is the factor that it goes over, whose values are numbers; by default length,
	// of usl flows, of per_container and container_step idle_containers.
	Over string `json:"over,omitempty"`
	// MaxLength leaves longer chains out of the fit; they are still compared with it.
	MaxLength int `json:"max_length,omitempty" jsonschema:"minimum=2"`
	// Holdout are values of Over that are left out of the fit and compared with it: the
	// model's error is taken there. Without any, each is left out in turn.
	Holdout []any `json:"holdout,omitempty"`
	// From is the loss_per_hop model of a chain of switches whose loss is that of a
	// switch, for two_factor; Namespaces one of a chain without switches whose loss is
	// that of a namespace, which is fitted else.
	From       string `json:"from,omitempty"`
	Namespaces string `json:"namespaces,omitempty"`
}

// Claim is one statement of the source, made checkable: an estimate with an
// interval, and the range in which the statement holds. It holds when the whole
// interval lies in the range, does not when none of it does, and is undecided
// otherwise.
type Claim struct {
	// ID of the claim, its Text, where the source has it (At), and a Note for who reads it.
	ID   string `json:"id" jsonschema:"required"`
	Text string `json:"text" jsonschema:"required"`
	At   string `json:"at,omitempty"`
	Note string `json:"note,omitempty"`
	// Needs names a feature or wiring, or says how many cores (16 cores), without which the
	// claim cannot be told here.
	Needs string `json:"needs,omitempty"`
	// Check says what to estimate; see package experiment for the kinds.
	Check Check `json:"check" jsonschema:"required"`
}

// Check is the estimate of a claim and the range in which the claim holds.
type Check struct {
	// Kind: value (the metric at a), loss (1 − b/a), ratio (b/a), best_ratio (b/a of the
	// conditions with the
	// highest mean among those that each selects: the best is chosen in odd repeats and
	// compared in even ones), ratio_each (b/a at every value of over, which must all lie
	// in the range), ratio_mean (b/a of the means over the values of over), ratio_change ((d/c)/(b/a)), flat (the greatest mean over the least
	// among the values of over, less 1), rises (the slope of the metric's logarithm by that
	// of over), peak (the value of over at which the metric is highest), possible (the largest value of
	// over that can be had and measured, where the next is refused), slope_fades (the
	// loss per namespace
	// between long chains less that between short ones), rank_changes (how far two values of over
	// change places between a and b: the lead, as a share, that the one has in a and the
	// other in b, whichever is smaller; below zero they keep their order), between_share
	// (the share of the variance at a that lies between instances of its chain, which
	// redeploy in the load makes anew), spread (the standard deviation of the metric's logarithm
	// at a between repeats, or between instances of a chain made anew), spread_ratio (that at b
	// over that at a), model_error (the
	// largest relative error of a model over its fitted values), model_better (the error
	// of a model at what it was not fitted to over that of another), unavailable.
	Kind string `json:"kind" jsonschema:"required,enum=value,enum=loss,enum=ratio,enum=best_ratio,enum=ratio_each,enum=ratio_mean,enum=ratio_change,enum=flat,enum=rises,enum=peak,enum=possible,enum=slope_fades,enum=rank_changes,enum=between_share,enum=spread,enum=spread_ratio,enum=model_error,enum=model_better,enum=unavailable"`
	// Metric of the conditions that are compared.
	Metric string `json:"metric,omitempty"`
	// A and B select one condition each by factor value; for best_ratio, any number, and
	// with over one at each of its values.
	A map[string]any `json:"a,omitempty"`
	B map[string]any `json:"b,omitempty"`
	// C and D are the second pair of a comparison of two steps.
	C map[string]any `json:"c,omitempty"`
	D map[string]any `json:"d,omitempty"`
	// Over is the factor whose values ratio_each, ratio_mean, flat, rises, peak and possible
	// go over: all of them, or those of Values.
	Over   string `json:"over,omitempty"`
	Values []any  `json:"values,omitempty"`
	// Scale of rises: log, the default, is the power of over with which the metric
	// grows; linear is the change with each unit of over, as a share of the mean, for
	// metrics that may be 0.
	Scale string `json:"scale,omitempty" jsonschema:"enum=log,enum=linear"`
	// Refusal is what the reason has in it with which a value is refused, for possible to
	// count it as that: values that cannot be had for another reason tell nothing.
	Refusal string `json:"refusal,omitempty"`
	// Model names the model of a check of models, Other the one that it is set against.
	Model string `json:"model,omitempty"`
	Other string `json:"other,omitempty"`
	// AtLeast and AtMost bound the range; absent means unbounded. Those of peak and
	// possible are in the unit of over.
	AtLeast *float64 `json:"at_least,omitempty"`
	AtMost  *float64 `json:"at_most,omitempty"`
}

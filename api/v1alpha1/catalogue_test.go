package v1alpha1

import "fmt"

// testCatalogue is small enough to be seen through: no package outside this
// one is needed to test the reader.
func testCatalogue() Catalogue {
	return Catalogue{
		Functions: map[string]func() any{
			"forward":  func() any { return &forwardOptions{} },
			"firewall": func() any { return &firewallOptions{Policy: "accept"} },
			"shaper":   func() any { return &shaperOptions{Discipline: "htb"} },
		},
		Wirings: map[string]func() any{
			"veth":   func() any { return &forwardOptions{} },
			"bridge": func() any { return &bridgeOptions{Per: "hop"} },
		},
		Replicating: []string{"bridge"},
		Branching:   []string{"bridge"},
		Runtimes:    []string{RuntimeNetns, RuntimeInline, RuntimeCNI, RuntimeAuto},
		Tools:       []string{"iperf3", "sockperf", "ping"},
	}
}

type forwardOptions struct{}

type bridgeOptions struct {
	Per   string `json:"per,omitempty" jsonschema:"enum=hop,enum=chain"`
	Ports int    `json:"ports,omitempty" jsonschema:"minimum=0"`
}

// Validate refuses ports that no bridge has.
func (o *bridgeOptions) Validate() []FieldProblem {
	if o.Per == "hop" && o.Ports > 2 {
		return []FieldProblem{{"ports", "a hop has two"}}
	}
	return nil
}

type firewallOptions struct {
	Policy string       `json:"policy,omitempty" jsonschema:"enum=accept,enum=drop"`
	Rules  firewallRule `json:"rules,omitempty"`
}

// NeedsAnswers of what knows connections.
func (o *firewallOptions) NeedsAnswers() string {
	if o.Rules.Stateful {
		return "it knows connections"
	}
	return ""
}

type firewallRule struct {
	Generate int  `json:"generate,omitempty" jsonschema:"minimum=0,maximum=100000"`
	Stateful bool `json:"stateful,omitempty"`
}

type shaperOptions struct {
	// Rate is what the shaper lets through.
	Rate       Rate          `json:"rate" jsonschema:"required"`
	Burst      *Size         `json:"burst,omitempty"`
	Discipline string        `json:"discipline,omitempty" jsonschema:"enum=htb,enum=tbf"`
	Classes    []shaperClass `json:"classes,omitempty"`
}

type shaperClass struct {
	Rate  Rate    `json:"rate" jsonschema:"required"`
	Share float64 `json:"share,omitempty"`
}

// Validate refuses classes that are given more than there is.
func (o *shaperOptions) Validate() []FieldProblem {
	var problems []FieldProblem
	for i, c := range o.Classes {
		if c.Rate > o.Rate {
			problems = append(problems, FieldProblem{
				Path:    fmt.Sprintf("classes[%d].rate", i),
				Message: fmt.Sprintf("%s is above the shaper's own %s", c.Rate, o.Rate),
			})
		}
	}
	return problems
}

package advise

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// Subject is a run with the chain that each of its conditions went through.
type Subject struct {
	Run trial.Run
	// Chains by condition; shorter where they are not known.
	Chains []api.ChainSpec
}

// cell is a condition of a run.
type cell struct {
	run       *trial.Run
	condition int
}

func (c cell) at() trial.Condition { return c.run.Conditions[c.condition] }

// sortOut puts the conditions of runs into cases, and those of a case into choices, in
// the order in which they come.
func sortOut(subjects []Subject, where map[string]any) (cases []Case) {
	place, within := map[string]int{}, map[string]int{}
	unlike := unlikeLoads(subjects, where)
	for s := range subjects {
		load := subjects[s].loads(unlike, where)
		for i, condition := range subjects[s].Run.Conditions {
			if condition.Path == trial.PathDirect || !experiment.Matches(condition, where) {
				continue
			}
			chain := subjects[s].chain(i)
			of, key := caseOf(chain, condition)
			if load != "" {
				of, key = of+"; loaded as in run "+subjects[s].Run.ID, key+load
			}
			if _, known := place[key]; !known {
				place[key], cases = len(cases), append(cases, Case{Name: of})
			}
			c := &cases[place[key]]
			choice := key + choiceKey(chain, condition)
			if _, known := within[choice]; !known {
				within[choice], c.Choices = len(c.Choices), append(c.Choices, newChoice(chain, condition))
			}
			found := &c.Choices[within[choice]]
			found.cells = append(found.cells, cell{&subjects[s].Run, i})
		}
	}
	for i := range cases {
		nameApart(cases[i].Choices)
	}
	return cases
}

// chain of a condition; of one whose file is not known, the wiring as it was read back.
func (s Subject) chain(condition int) api.ChainSpec {
	if condition < len(s.Chains) && s.Chains[condition].Wiring != "" {
		return s.Chains[condition]
	}
	for _, setup := range s.Run.Setups {
		if slices.Contains(setup.Conditions, condition) {
			return api.ChainSpec{Wiring: setup.Wiring}
		}
	}
	return api.ChainSpec{}
}

// ofChain tells the factors that are choices of how a chain is made. What functions
// there are and what they do is no choice, and neither is the load.
func ofChain(field string) bool {
	switch field {
	case "wiring", "mtu", "mix", "affinity":
		return true
	}
	ofFunctions := strings.HasPrefix(field, "chain.functions") || strings.HasPrefix(field, "chain.everywhere")
	return strings.HasPrefix(field, "chain.") && (!ofFunctions || strings.HasSuffix(field, ".group"))
}

// caseOf names what a choice cannot change, with a key that tells one from another: the
// functions whatever their order and names, and the load.
func caseOf(chain api.ChainSpec, c trial.Condition) (name, key string) {
	var functions, kinds []string
	for _, f := range chain.Functions {
		f.Name, f.Group = "", ""
		functions, kinds = append(functions, encoded(f)), append(kinds, f.Kind)
		if f.Kind == "" {
			kinds[len(kinds)-1] = f.Ref
		}
	}
	slices.Sort(functions)
	slices.Sort(kinds)
	fixed := map[string]any{}
	for field, v := range c.Factors {
		if !ofChain(field) && field != "protocol" {
			fixed[field] = v
		}
	}
	name = "no functions"
	if len(kinds) > 0 {
		name = counted(kinds)
	}
	for _, e := range chain.Everywhere {
		name += ", " + e.Kind + " everywhere"
	}
	if len(fixed) > 0 {
		name += "; " + experiment.Describe(fixed)
	}
	key = strings.Join(functions, " ") + encoded(chain.Everywhere) + experiment.Describe(fixed)
	if len(functions) == 0 { // where the file is not known, the number of nodes is all there is
		key += fmt.Sprint(c.Length)
	}
	return name, key
}

// counted lists sorted words, those that come several times with their number.
func counted(words []string) string {
	var parts []string
	for _, w := range slices.Compact(slices.Clone(words)) {
		n := 0
		for _, other := range words {
			if other == w {
				n++
			}
		}
		if n > 1 {
			w = fmt.Sprintf("%d × %s", n, w)
		}
		parts = append(parts, w)
	}
	return strings.Join(parts, ", ")
}

// choiceKey tells choices of a case apart.
func choiceKey(chain api.ChainSpec, c trial.Condition) string {
	return "|" + encoded(chain) + "|" + c.Affinity
}

func newChoice(chain api.ChainSpec, c trial.Condition) Choice {
	choice := Choice{Wiring: chain.Wiring, Order: orderOf(chain), Settings: trial.Map[any]{}}
	for field, v := range c.Factors {
		if ofChain(field) && field != "wiring" && field != "mix" {
			choice.Settings[field] = v
		}
	}
	return choice
}

// orderOf are the functions' names in their order, those of one group joined.
func orderOf(chain api.ChainSpec) (order trial.List[string]) {
	group := ""
	for _, f := range chain.Functions {
		if f.Group != "" && f.Group == group {
			order[len(order)-1] += "+" + f.Name
		} else {
			order = append(order, f.Name)
		}
		group = f.Group
	}
	return order
}

// unlikeLoads are the protocols that runs offered unlike loads of, beside what was varied.
func unlikeLoads(subjects []Subject, where map[string]any) map[string]bool {
	first, unlike := map[string]string{}, map[string]bool{}
	for _, s := range subjects {
		for _, c := range s.Run.Conditions {
			if c.Path == trial.PathDirect || !experiment.Matches(c, where) {
				continue
			}
			load, key := loadOf(c), c.Protocol+experiment.Describe(fixedOf(c))
			if was, known := first[key]; known && was != load {
				unlike[c.Protocol] = true
			}
			first[key] = load
		}
	}
	return unlike
}

func fixedOf(c trial.Condition) map[string]any {
	fixed := maps.Clone(map[string]any(c.Factors))
	maps.DeleteFunc(fixed, func(field string, _ any) bool { return ofChain(field) })
	return fixed
}

// loadOf is what was offered, without how it went through and how often.
func loadOf(c trial.Condition) string {
	c.Path, c.Length, c.Affinity, c.DurationS, c.Factors, c.Search = "", 0, "", 0, nil, nil
	return encoded(c)
}

// loads are what a run offered of the protocols of which others offered something else;
// empty where there are none.
func (s Subject) loads(unlike map[string]bool, where map[string]any) string {
	var all []string
	for _, c := range s.Run.Conditions {
		if unlike[c.Protocol] && c.Path != trial.PathDirect && experiment.Matches(c, where) {
			all = append(all, experiment.Describe(fixedOf(c))+loadOf(c))
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "\n")
}

// encoded is one text for all that is stored of a value.
func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	return string(text)
}

package told

import (
	"maps"
	"slices"
	"strings"
)

// Names of the labels that values of the family have, in order.
func (f Family) Names() []string {
	all := map[string]bool{}
	for _, v := range f.Values {
		for name := range v.Labels {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Text of the labels as the format has them, by name, or nothing where there are none.
func (l Labels) Text() string {
	if len(l) == 0 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(l)) {
		parts = append(parts, name+`="`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(l[name])+`"`)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

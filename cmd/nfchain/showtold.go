package main

import (
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/observe/told"
	runs "nfchain.dev/nfchain/internal/run"
)

// mostTold is how many values of a family are printed; JSON has them all.
const mostTold = 20

// printTold prints what programs of a node tell of their work.
func (a *app) printTold(n runs.NodeState) error {
	if err := a.printTelling(n.Name, n.Told); err != nil {
		return err
	}
	for _, f := range n.Functions {
		if err := a.printTelling(f.Name, f.Told); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printTelling(name string, t *told.Told) error {
	switch {
	case t == nil:
		return nil
	case t.Error != "":
		a.printf("\n%s: what it tells in %s is not taken: %s\n", name, t.File, t.Error)
		return nil
	}
	for _, f := range t.Families {
		labels := f.Names()
		a.printf("\n%s tells %s", name, f.Name)
		if f.Help != "" {
			a.printf(": %s", f.Help)
		}
		a.printf("\n")
		w := a.table("  " + strings.ToUpper(strings.Join(append(labels, "value"), "\t")))
		for i, v := range f.Values {
			if i == mostTold {
				break
			}
			var row strings.Builder
			for _, l := range labels {
				row.WriteString(v.Labels[l] + "\t")
			}
			w.row("  %s%s\n", row.String(), strconv.FormatFloat(v.Value, 'f', -1, 64))
		}
		if err := w.end(); err != nil {
			return err
		}
		if more := len(f.Values) - mostTold; more > 0 {
			a.printf("  … and %d more (-o json has them all)\n", more)
		}
	}
	return nil
}

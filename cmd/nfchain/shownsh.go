package main

import (
	api "nfchain.dev/nfchain/api/v1alpha1"
	runs "nfchain.dev/nfchain/internal/run"
)

// nshRows tell of the functions that get frames behind a header of RFC 8300, if there are any.
func nshRows(w *table, nodes []runs.NodeState) {
	headed := false
	for _, n := range nodes {
		if n.NSH == nil {
			continue
		}
		if !headed {
			headed = true
			w.row("\nFUNCTION\tWAY\tSERVICE PATH\tSERVICE INDEX\tGIVEN\tBACK\tINDEX AS IT WAS\tNO HEADER\tMALFORMED\tUNKNOWN PATH OR INDEX\tEXPIRED\n")
		}
		for _, way := range []struct {
			name string
			runs.NSHWay
		}{{"forward", n.NSH.Forward}, {"reverse", n.NSH.Reverse}} {
			if n.OneWay && way.name == string(api.Reverse) {
				continue // it gets none
			}
			d := way.Dropped
			w.row("%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", n.Name, way.name, way.Path, way.Index, way.Given, way.Back, way.Undiminished,
				d.Plain, d.Malformed, d.Unknown, d.Expired)
		}
	}
}

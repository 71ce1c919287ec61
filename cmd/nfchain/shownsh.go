package main

import (
	"strconv"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/nsh"
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
			path, index := hopsText(way.Hop, way.name, n.NSH.Paths)
			w.row("%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", n.Name, way.name, path, index, way.Given, way.Back, way.Undiminished,
				d.Plain, d.Malformed, d.Unknown, d.Expired)
		}
	}
}

// hopsText is the service path and the index of frames one way, or those of each of several paths in the same order.
func hopsText(only nsh.Hop, way string, on []plan.NSHPath) (path, index string) {
	hops := []nsh.Hop{only}
	if len(on) > 0 {
		hops = nil
	}
	for _, p := range on {
		if way == string(api.Reverse) {
			hops = append(hops, p.Reverse)
		} else {
			hops = append(hops, p.Forward)
		}
	}
	var paths, indexes []string
	for _, h := range hops {
		paths, indexes = append(paths, strconv.Itoa(int(h.Path))), append(indexes, strconv.Itoa(int(h.Index)))
	}
	return strings.Join(paths, ","), strings.Join(indexes, ",")
}

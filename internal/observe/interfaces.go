package observe

import "nfchain.dev/nfchain/internal/trial"

// interfaceUse is what every interface of the second dump counted since the
// first. One that came in between counts whole; one that went is absent.
func interfaceUse(before, after []trial.InterfaceCounts) []trial.InterfaceCounts {
	type key struct{ node, name string }
	first := map[key]trial.InterfaceCounts{}
	for _, b := range before {
		first[key{b.Node, b.Interface}] = b
	}
	use := []trial.InterfaceCounts{}
	for _, a := range after {
		use = append(use, interfaceGrown(first[key{a.Node, a.Interface}], a))
	}
	return use
}

func interfaceGrown(b, a trial.InterfaceCounts) trial.InterfaceCounts {
	return trial.InterfaceCounts{
		Node: a.Node, Interface: a.Interface,
		RxPackets: grown(b.RxPackets, a.RxPackets), TxPackets: grown(b.TxPackets, a.TxPackets),
		RxBytes: grown(b.RxBytes, a.RxBytes), TxBytes: grown(b.TxBytes, a.TxBytes),
		RxDropped: grown(b.RxDropped, a.RxDropped), TxDropped: grown(b.TxDropped, a.TxDropped),
		RxErrors: grown(b.RxErrors, a.RxErrors), TxErrors: grown(b.TxErrors, a.TxErrors),
	}
}

package traffic

import api "nfchain.dev/nfchain/api/v1alpha1"

// Cores that an affinity names: none of them for "none", all in turn for
// "spread", else the list.
func Cores(affinity string, cpus int) []int {
	switch affinity {
	case "", "none":
		return nil
	case "spread":
		all := make([]int, cpus)
		for i := range all {
			all[i] = i
		}
		return all
	}
	list, err := api.ParseCPUList(affinity)
	if err != nil {
		return nil // validated when the load was read
	}
	return list
}

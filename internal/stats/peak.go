package stats

// AmongBest are the places of the samples whose means cannot be told apart from the
// highest: the highest itself is among them with 95%, whichever it is. less gives the
// mean of sample j less that of sample i, with an interval of the given confidence.
//
// A place is left out where one of the others is surely higher, by one-sided
// intervals that hold at once over all others (Gupta 1965; Hsu, Multiple Comparisons,
// 1996, §4.1, here by Bonferroni and with each sample's own variance). Where the
// highest is left out, it is because one of its own n−1 intervals fails.
func AmongBest(n int, less func(i, j int, level float64) Estimate) (places []int) {
	level := 1 - 2*(1-confidence)/float64(max(1, n-1))
	for i := range n {
		beaten := false
		for j := range n {
			if i == j {
				continue
			}
			e := less(i, j, level)
			beaten = beaten || e.CI95 != nil && e.CI95[0] > 0
		}
		if !beaten {
			places = append(places, i)
		}
	}
	return places
}

package observe

import (
	"slices"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/internal/feature/procfs"
	"nfchain.dev/nfchain/internal/trial"
)

// Fragments reads what the network namespace of this thread counted of fragments since
// it was made.
func Fragments(root procfs.Root) trial.FragmentCounts {
	four, _ := root.Text("proc/thread-self/net/snmp")
	six, _ := root.Text("proc/thread-self/net/snmp6")
	counts := parseSNMP(four)
	for name, n := range parseSNMP6(six) {
		counts[name] += n
	}
	return trial.FragmentCounts{
		Fragmented: counts["FragOKs"], Created: counts["FragCreates"],
		Received: counts["ReasmReqds"], Reassembled: counts["ReasmOKs"], Failed: counts["ReasmFails"],
	}
}

// parseSNMP reads the Ip lines of /proc/net/snmp, of which the first has the names and
// the second the numbers. They are named as in RFC 1213's ip group.
func parseSNMP(s string) map[string]uint64 {
	counts := map[string]uint64{}
	var names []string
	for line := range strings.Lines(s) {
		words, is := strings.CutPrefix(line, "Ip: ")
		if !is {
			continue
		}
		fields := strings.Fields(words)
		if names == nil {
			names = fields
			continue
		}
		for i, name := range names[:min(len(names), len(fields))] {
			if n, err := strconv.ParseUint(fields[i], 10, 64); err == nil {
				counts[name] = n
			}
		}
		break
	}
	return counts
}

// parseSNMP6 reads the Ip6 lines of /proc/net/snmp6, one name and number each.
func parseSNMP6(s string) map[string]uint64 {
	counts := map[string]uint64{}
	for line := range strings.Lines(s) {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			continue
		}
		name, is := strings.CutPrefix(fields[0], "Ip6")
		if n, err := strconv.ParseUint(fields[1], 10, 64); is && err == nil {
			counts[name] = n
		}
	}
	return counts
}

// fragmentsSince is what each node counted between two readings.
func fragmentsSince(before, after []trial.FragmentCounts) []trial.FragmentCounts {
	var all []trial.FragmentCounts
	for _, a := range after {
		var b trial.FragmentCounts
		if i := slices.IndexFunc(before, func(f trial.FragmentCounts) bool { return f.Node == a.Node }); i >= 0 {
			b = before[i]
		}
		all = append(all, trial.FragmentCounts{
			Node: a.Node, Fragmented: grown(b.Fragmented, a.Fragmented), Created: grown(b.Created, a.Created),
			Received: grown(b.Received, a.Received), Reassembled: grown(b.Reassembled, a.Reassembled), Failed: grown(b.Failed, a.Failed),
		})
	}
	return all
}

package main

import (
	"strings"
	"time"

	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/words"
)

// printShared prints how flows are shared out over the replicas of a function.
func (a *app) printShared(s runs.SharedState) {
	a.printf("\n%s: %s new, %d moved to another replica; %s found no room among the known\n", s.Function,
		words.Plural(int(s.New), "flow"), s.Moved, words.Plural(int(s.Unkept), "packet"))
	for _, r := range s.Replicas {
		leaving := ""
		if r.Leaving {
			leaving = "; it gets no new ones, and is removed when all are idle"
		}
		a.printf("  %s: %s, %d of them not idle%s\n", r.Node, words.Plural(r.Flows, "flow"), r.Busy, leaving)
	}
}

// printBranches prints what is known of flows where ways come together.
func (a *app) printBranches(s *runs.BranchState) {
	if s == nil {
		return
	}
	a.printf("\nbranches: %s known where ways come together; %d new, %d moved to another way; %s of a label or a flow that was not known went the planned way, and for %d there was no room among the known\n",
		words.Plural(s.Flows, "flow"), s.New, s.Moved, words.Plural(int(s.Unknown), "packet"), s.Unkept)
}

// printPath prints how many flows stay on the path that they began on.
func (a *app) printPath(s *runs.PathState) {
	if s == nil {
		return
	}
	a.printf("\npath: changed at %s; %s found that there were before, %d of them on the older path, to go the newest when idle for %v; %d moved, %d made room for others, %s found no room\n",
		s.Since.Format(time.TimeOnly), words.Plural(int(s.Kept), "flow"), s.Older, s.IdleNS, s.Moved, s.Displaced, words.Plural(int(s.Unkept), "packet"))
	if len(s.Leaving) > 0 {
		a.printf("  until then there are %s\n", strings.Join(s.Leaving, ", "))
	}
}

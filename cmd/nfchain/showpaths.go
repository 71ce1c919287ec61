package main

import (
	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/words"
)

// printClassifier prints the flows that each rule gave a path.
func (a *app) printClassifier(s *runs.ClassifierState) error {
	if s == nil {
		return nil
	}
	a.printf("\n")
	w := a.table("RULE\tPATH\tFLOWS\tNOT IDLE\tPACKETS\tBYTES")
	shown := 0
	for i, r := range s.Rules {
		last := i == len(s.Rules)-1
		if r.Own && r.Packets == 0 && r.Flows == 0 || shown >= mostRules && !last {
			continue
		}
		shown++
		w.row("%s\t%s\t%d\t%d\t%d\t%d\n", r.Rule, pathText(r), r.Flows, r.Busy, r.Packets, r.Bytes)
	}
	if e := s.Earlier; e.Flows > 0 || e.Packets > 0 {
		w.row("(before these rules)\t\t%d\t%d\t%d\t%d\n", e.Flows, e.Busy, e.Packets, e.Bytes)
	}
	if err := w.end(); err != nil {
		return err
	}
	if shown > mostRules {
		a.printf("  … and others (-o json has them all)\n")
	}
	a.printf("%d flows known at most; %d new, %d moved because their path was gone; %s found no room among the known, %d came by a function that no path of theirs goes by\n",
		s.Most, s.New, s.Moved, words.Plural(int(s.Unkept), "packet"), s.Unknown)
	return nil
}

// pathText is where a rule leads, for a person.
func pathText(r runs.PathRuleState) string {
	if r.Drop {
		return api.OtherwiseDrop
	}
	return plan.Path{Functions: r.Path, Visited: r.BackFunctions, Branched: r.Branched, ServicePath: r.ServicePath}.Whole()
}

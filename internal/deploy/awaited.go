package deploy

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/words"
)

// readyLook is how often it is asked whether programs are ready.
const readyLook = 10 * time.Millisecond

// holdsAgain is how often who watches is told once more that functions are changed, which is for 30 s each time.
const holdsAgain = 10 * time.Second

// writes is how exact the kernel's times of files are, and more.
const writes = 20 * time.Millisecond

// awaitReady waits for the programs of functions that no packet goes to yet, and that get none through until these are ready, or come in the place
// of others that do. Where one does not become ready, packets go on as they went.
func (w *work) awaitReady(ctx context.Context, p *plan.Plan) error {
	coming, err := w.unled(p)
	if err != nil || len(coming) == 0 {
		return err
	}
	after, failed, ends, held := afterOf(p), map[string]int{}, time.Now().Add(longestReady(p)), time.Now()
	for first := true; ; first = false {
		programs, err := process.Statuses(w.owner)
		if err != nil {
			return err
		}
		of := map[string]process.Status{}
		for _, s := range programs {
			if of[s.Node] = s; first && !w.begins(s.Node) {
				failed[s.Node] = s.Failures // since an edit before
			}
		}
		waits := false
		for name, n := range coming {
			s, runs := of[name]
			if !runs || s.Done() {
				continue
			}
			for _, s := range awaited(s, of, after) {
				if time.Now().After(ends) || broken(p, s, failed[s.Node]) {
					return unreadyNode(p, n, s)
				}
			}
			waits = true
		}
		if !waits {
			return nil
		}
		if !w.apart && time.Since(held) > holdsAgain {
			held = time.Now()
			if err := w.holdOn(); err != nil {
				return err
			}
		}
		if _, err := pause(ctx, readyLook); err != nil {
			return err
		}
	}
}

// begins tells whether a node's program was begun, or is another, by this work.
func (w *work) begins(node string) bool {
	return slices.ContainsFunc(w.done, func(c resource.Change) bool {
		return c.Kind == process.KindName && c.Key == node && c.Op != resource.Delete
	})
}

// longestReady is how long programs of a plan are waited for: as long as one of them may take, and as others that it waits for and that are begun again.
func longestReady(p *plan.Plan) time.Duration {
	longest := time.Minute
	for _, r := range p.Resources {
		if s, is := r.Spec.(process.Spec); is {
			longest = max(longest, time.Minute+time.Duration(s.Ready.TimeoutS*float64(time.Second)))
		}
	}
	return longest
}

// broken tells of a program that it will not become ready, if it had failed so often before. What has ended in a container is not brought back while
// the chain is changed.
func broken(p *plan.Plan, s process.Status, failed int) bool {
	if s.Done() {
		return false
	}
	contained := slices.ContainsFunc(p.Resources, func(r resource.Resource) bool {
		spec, is := r.Spec.(process.Spec)
		return is && spec.Node == s.Node && spec.Container != nil
	})
	return s.BrokenSince(failed) || contained && s.FailedSince(failed) > 0
}

// afterOf the programs of a plan are those that they wait for.
func afterOf(p *plan.Plan) map[string][]string {
	of, all := map[string][]string{}, map[string][]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(process.Spec); is {
			of[s.Function()] = append(of[s.Function()], s.Node)
		}
	}
	for _, r := range p.Resources {
		if s, is := r.Spec.(process.Spec); is {
			for _, name := range s.After {
				all[s.Node] = append(all[s.Node], of[name]...)
			}
		}
	}
	return all
}

// awaited are a program and those that have to be ready before it begins.
func awaited(s process.Status, of map[string]process.Status, after map[string][]string) []process.Status {
	all := []process.Status{s}
	for i := 0; i < len(all); i++ {
		for _, name := range after[all[i].Node] {
			other, runs := of[name]
			if runs && !slices.ContainsFunc(all, func(s process.Status) bool { return s.Node == name }) {
				all = append(all, other)
			}
		}
	}
	return all
}

// unreadyNode is why packets are not led to a function.
func unreadyNode(p *plan.Plan, n plan.Node, s process.Status) error {
	whose := "its program"
	if s.Node != n.Name {
		whose = "the program of " + s.Node + ", which it waits for,"
	}
	return fmt.Errorf("function %s is not ready, so that packets go on as they went before it came: %s %s%s; where it cannot be before packets go to it, write replace: in-place", n.InFile(), whose, s.Message, lastWordsOf(p.Chain, s))
}

// lastWordsOf a program: those that one before it of the same name left there are not its own.
func lastWordsOf(owner string, s process.Status) string {
	log, err := os.Stat(LogFile(owner, s.Node))
	began := time.Now().Add(time.Duration(s.BeganNs - process.Clock()))
	if err == nil && s.BeganNs != 0 && log.ModTime().Before(began.Add(-writes)) {
		return ""
	}
	return LastWords(owner, s.Node)
}

// LastWords is the end of a program's log, for an error.
func LastWords(owner, node string) string {
	text, err := os.ReadFile(LogFile(owner, node))
	log := strings.TrimSpace(string(text))
	if err != nil || log == "" {
		return "; its log is empty"
	}
	last := log[strings.LastIndexByte(log, '\n')+1:]
	return fmt.Sprintf("; its log ends with %q", words.Excerpt([]byte(last)))
}

// unled are such functions, by the names of their nodes: those of which it was told that they come, and that none of the ports leads to which packets come by.
func (w *work) unled(p *plan.Plan) (map[string]plan.Node, error) {
	all := map[string]plan.Node{}
	for _, n := range p.Functions() {
		if w.awaits[n.Name] {
			all[n.Name] = n
		}
	}
	if w.dry || len(all) == 0 {
		return nil, nil
	}
	own := namespace.Name(p.Chain, plan.WiringNode)
	at := &opened{place: own, work: w}
	defer at.close()
	ports, err := w.read(steer.Kind{}, own, at)
	if err != nil {
		return nil, fmt.Errorf("look where packets go: %w", err)
	}
	for node := range cameBy(p, ports) {
		delete(all, node)
	}
	return all, nil
}

// cameBy are the nodes that packets come to from the ends, as ports lead them.
func cameBy(p *plan.Plan, ports []resource.Observed) map[string]bool {
	own := namespace.Name(p.Chain, plan.WiringNode)
	node := map[string]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is && s.B.Namespace == own && s.A.Namespace != own {
			node[s.B.Device] = s.A.Node
		}
	}
	for _, n := range p.Nodes {
		if n.Past != nil { // by which packets go past it
			node[n.Past.West], node[n.Past.East] = "past "+n.Name, "past "+n.Name
		}
	}
	all, next := map[string]bool{}, []string{p.Client().Name, p.Server().Name}
	for len(next) > 0 {
		from := next[0]
		if next = next[1:]; all[from] {
			continue
		}
		all[from] = true
		for _, o := range ports {
			if node[o.Key] != from {
				continue
			}
			for port, to := range node {
				if strings.Contains(o.Fingerprint, port) {
					next = append(next, to)
				}
			}
		}
	}
	return all
}

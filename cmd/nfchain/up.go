package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/words"
)

func (a *app) upCmd() *cobra.Command {
	var o runs.UpOptions
	cmd := &cobra.Command{
		Use: "up FILE...", Short: "Bring a file's chains and functions up, changing only what differs",
		Long: `Bring up every chain and standalone function of a file. What is there already is
compared with the file and only the difference is made; a second run changes
nothing and says so; ` + "`diff`" + ` shows the difference first. What was not there before is
removed again where it does not come up whole, or with --wait is not ready: without --wait that stays, to be looked into. What
was there stays in any case. With --share, identical functions of
the files' chains are one, as ` + "`plan --share`" + ` tells; when no chain comes to go through such a function, because this
fails, it is removed again.`,
		Example: "  nfchain up examples/edge-chain.yaml --wait\n  nfchain up edge.yaml --dry-run\n  nfchain up --share examples/tenant-shop.yaml examples/tenant-bank.yaml",
	}
	var format *string
	share := shareFlag(cmd)
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		h := a.host(cmd.Context())
		f, fresh, err := a.toDeploy(h, args, *share)
		if err != nil {
			return err
		}
		if len(f.Chains)+len(f.Functions) == 0 {
			return fmt.Errorf("%s holds no chain and no function; experiments are run by `nfchain experiment run`: %w", args[0], runs.ErrInput)
		}
		o.Alone = f.Functions
		done := deployed{SchemaVersion: 1, DryRun: o.DryRun, Items: []deployedItem{}}
		err = a.upAll(cmd.Context(), h, f, o, func(item deployedItem) {
			done.Items = append(done.Items, item)
			if *format == "text" {
				a.printItem(item, o.DryRun)
			}
		})
		err = a.placed(err, args...)
		if err != nil && !o.DryRun {
			err = errors.Join(err, a.takeBack(cmd.Context(), h, fresh))
		}
		if *format == "json" {
			err = errors.Join(err, a.printJSON(done))
		}
		return err
	}))
	format = outputFlag(cmd, "text", "json")
	cmd.Flags().BoolVar(&o.Wait, "wait", false, "wait until every function is ready")
	cmd.Flags().BoolVar(&o.Move, "move", false, "move flows that would stay on an older path, or with a replica that is taken out, at once, and say how many")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would change and change nothing")
	return cmd
}

// toDeploy is what a file holds, or several whose chains share functions; fresh are those
// shared functions that are not there yet.
func (a *app) toDeploy(h *runs.Host, args []string, share bool) (f *api.File, fresh []string, err error) {
	if !share {
		f, _, err := a.file(args[0])
		return f, nil, err
	}
	s, err := a.sharing(h, args)
	if err != nil {
		return nil, nil, err
	}
	for _, shared := range s.Shared {
		if !netns.Exists(namespace.Alone(shared.Name)) {
			fresh = append(fresh, shared.Name)
		}
	}
	// What one of the chains is refused for is told before anything of the others is made.
	if _, err := h.PlanAll(s.Chains, s.Functions, plan.Options{}); err != nil {
		return nil, nil, err
	}
	return &api.File{Functions: s.Functions, Chains: s.Chains}, fresh, nil
}

// takeBack removes functions that no chain goes through: nobody's file names those that are
// shared.
func (a *app) takeBack(ctx context.Context, h *runs.Host, names []string) error {
	var failed []error
	for _, name := range names {
		guests, err := deploy.Guests(name)
		if err == nil && len(guests) == 0 {
			if _, err = a.downOne(context.WithoutCancel(ctx), h, name); err == nil {
				a.say("%s: removed again, since no chain came to go through it", name)
			}
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("and removing function %s, which was made for the chains, failed: %w", name, err))
		}
	}
	return errors.Join(failed...)
}

// deployed is what up prints as JSON: what was done, also when a later step failed.
type deployed struct {
	SchemaVersion int            `json:"schema_version"`
	DryRun        bool           `json:"dry_run"`
	Items         []deployedItem `json:"items"`
}

// deployedItem is one chain or standalone function and what was changed of it, or with
// a dry run would be.
type deployedItem struct {
	Name string `json:"name"`
	// Kind is chain or function.
	Kind    string        `json:"kind"`
	Changes []changedItem `json:"changes"`
	// Warnings of its plan.
	Warnings []string `json:"warnings"`
	// Runtimes are what was chosen for functions that left it to the plan, by their names.
	Runtimes map[string]string `json:"runtimes,omitempty"`
	// Replaces tells which functions are put in beside what is there under their names.
	Replaces []plan.Replacing `json:"replaces,omitempty"`
	// MovedFlows are those that were not idle and went to the new path at once: at most so many had packets under way, which
	// may have come in another order. StayingFlows go the path that they began on until they are idle.
	MovedFlows   int `json:"moved_flows"`
	StayingFlows int `json:"staying_flows"`
	// MovedAtOnce says why flows that were under way went, or would go, to the new path at once though they were to stay on the one
	// before; nobody counts them.
	MovedAtOnce string `json:"moved_at_once,omitempty"`
	// AwaitedFlows stay, or would stay, with replicas that are taken out until they are idle.
	AwaitedFlows int `json:"awaited_flows,omitempty"`

	changes []resource.Change
	// ports tells whose the ports are that a text names; nil where it names none.
	ports func(text string) string
	// bare tells of a chain that makes nothing and was not up before.
	bare bool
}

// changedItem is one resource that was created, updated or deleted.
type changedItem struct {
	Op   resource.Op `json:"op"`
	ID   string      `json:"id"`
	Kind string      `json:"kind"`
	// Was and WouldBe are what the kernel has, and would have, of what is changed; Parts are the values that differ where that is a sum.
	Was     string          `json:"was,omitempty"`
	WouldBe string          `json:"would_be,omitempty"`
	Parts   []differingPart `json:"parts,omitempty"`
	// Words are the lines that differ, as diff(1) has them, of what can be told in words.
	Words []string `json:"words,omitempty"`
	// Another tells that Was is a sum of something else than what the chain's file had.
	Another bool `json:"another,omitempty"`
}

func itemOf(name, kind string, changes []resource.Change) deployedItem {
	item := deployedItem{Name: name, Kind: kind, Changes: []changedItem{}, Warnings: []string{}, changes: changes}
	for _, c := range changes {
		item.Changes = append(item.Changes, changedItem{Op: c.Op, ID: c.ID, Kind: c.Kind})
	}
	return item
}

// compares notes of each change what is there and what would be, of a chain that was made from these before.
func (i deployedItem) compares(before map[string][]resource.Spec) {
	for at, c := range i.changes {
		if c.Op != resource.Update || c.Was == "" || c.Was == c.Spec.Fingerprint() {
			continue
		}
		one, was := &i.Changes[at], replacedBy(c, before[c.ID])
		one.Was, one.WouldBe, one.Parts = i.named(c.Was), i.named(c.Spec.Fingerprint()), partsOf(c, was)
		for _, line := range wordsOf(c, was) {
			one.Words = append(one.Words, i.named(line))
		}
		one.Another = isAnother(c, was)
	}
}

// named is a text with whose the ports are that it names.
func (i deployedItem) named(text string) string {
	if i.ports == nil {
		return text
	}
	return i.ports(text)
}

func staying(flows int) string {
	if flows == 1 {
		return "1 flow stays"
	}
	return fmt.Sprintf("%d flows stay", flows)
}

// atOnce says that flows go the new path at once, and why.
func atOnce(item deployedItem, dry bool) string {
	way := "went"
	if dry {
		way = "would go"
	}
	return fmt.Sprintf("%s: flows that are under way %s the new path at once, since %s; packets of theirs may come in another order", item.Name, way, item.MovedAtOnce)
}

// awaited says which flows stay, or would stay, with replicas that are taken out.
func awaited(item deployedItem, dry bool) string {
	stay := staying(item.AwaitedFlows)
	if dry && len(item.changes) > 0 {
		stay = words.Plural(item.AwaitedFlows, "flow") + " would stay"
	}
	return fmt.Sprintf("%s: %s with replicas that are taken out until idle, and these are removed then; `nfchain up FILE --move` moves them", item.Name, stay)
}

func (a *app) printItem(item deployedItem, dry bool) {
	if item.bare {
		a.printf("%s\n", bareSummary(item.Name, dry))
		return
	}
	a.printf("%s\n", summary(item.Name, item.changes, dry))
	if item.MovedFlows > 0 {
		a.printf("%s: %s that had not been idle moved to the new path at once; of those, packets that were under way may come in another order\n", item.Name, words.Plural(item.MovedFlows, "flow"))
	}
	if item.MovedAtOnce != "" {
		a.printf("%s\n", atOnce(item, dry))
	}
	if item.AwaitedFlows > 0 {
		a.printf("%s\n", awaited(item, dry))
	}
	if item.StayingFlows > 0 {
		a.printf("%s: %s on the path from before until idle, and what only they go by is removed then; `nfchain show %s` tells how many are left\n", item.Name, staying(item.StayingFlows), item.Name)
	}
	if !dry {
		return
	}
	for _, c := range item.Changes {
		a.printf("  %s %s\n", c.Op, item.named(c.ID))
	}
}

// upAll brings up the functions of a file and then its chains, telling done of each.
func (a *app) upAll(ctx context.Context, h *runs.Host, f *api.File, o runs.UpOptions, done func(deployedItem)) error {
	for _, fn := range f.Functions {
		changes, err := a.upOne(ctx, h, fn.Metadata.Name, "function", o, func() ([]resource.Change, error) {
			return h.UpFunction(ctx, fn, o)
		})
		if err != nil {
			return err
		}
		item := itemOf(fn.Metadata.Name, "function", changes)
		if o.DryRun {
			item.compares(madeBefore(h, item.Name))
		}
		done(item)
	}
	for _, chain := range f.Chains {
		var made *plan.Plan
		var flows runs.Flows
		o, bare := o, false
		o.Flows = &flows
		changes, err := a.upOne(ctx, h, chain.Metadata.Name, "chain", o, func() ([]resource.Change, error) {
			_, unknown := deploy.Recall(chain.Metadata.Name)
			p, changes, err := h.Up(ctx, chain, o)
			if err == nil {
				made, bare = p, p.Bare() && unknown != nil && len(changes) == 0
			}
			return changes, err
		})
		if err != nil {
			return err
		}
		item := itemOf(chain.Metadata.Name, "chain", changes)
		item.bare, item.Runtimes = bare, made.Runtimes
		if o.DryRun {
			item.ports = runs.NamePorts(made)
			item.compares(madeBefore(h, item.Name))
		}
		item.MovedFlows, item.StayingFlows, item.MovedAtOnce = flows.Moved, flows.Staying, flows.AtOnce
		item.AwaitedFlows = flows.Left
		for _, w := range made.Warnings {
			item.Warnings = append(item.Warnings, w)
			a.say("warning: chain %s: %s", item.Name, w)
		}
		for _, comes := range made.Replaces {
			a.say("chain %s: %s", item.Name, comes)
		}
		item.Replaces = made.Replaces
		if chose := made.Chose(); chose != "" {
			a.say("chain %s, runtime %s: %s", item.Name, api.RuntimeAuto, chose)
		}
		done(item)
	}
	return nil
}

// upOne brings one thing up under its lock and gives what changed. When it is
// interrupted or fails, what this command made anew is removed again.
func (a *app) upOne(ctx context.Context, h *runs.Host, name, kind string, o runs.UpOptions, up func() ([]resource.Change, error)) ([]resource.Change, error) {
	lock, err := h.Lock(ctx, name)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	before, err := deploy.Stands(name)
	if err != nil {
		return nil, err
	}
	if err := h.CheckKind(name, kind); err != nil {
		return nil, err
	}
	changes, err := up()
	a.bar.clear()
	if err == nil {
		return changes, nil
	}
	err = of(kind, name, err)
	if !before && !o.DryRun {
		err = a.undo(ctx, h, name, kind, err)
	}
	return nil, err
}

// of says which chain or function an error is of, where the error does not: a file may hold several.
func of(kind, name string, err error) error {
	var problems api.Problems
	if errors.As(err, &problems) || strings.Contains(err.Error(), kind+" "+name) {
		return err
	}
	return fmt.Errorf("%s %s: %w", kind, name, err)
}

// undo removes what was made of a chain or function that failed, and says so behind why it did.
func (a *app) undo(ctx context.Context, h *runs.Host, name, kind string, failed error) error {
	_, unmade := deploy.Recall(name)
	if _, err := h.Down(context.WithoutCancel(ctx), name); err != nil {
		return fmt.Errorf("%w; and removing what was made failed: %w", failed, err)
	}
	if unmade != nil {
		return failed
	}
	kept := ""
	if runs.Unready(failed) {
		kept = fmt.Sprintf("; without --wait it stays, and `nfchain show %s` tells its state", name)
	}
	return fmt.Errorf("%w; what was made of %s %s is removed again%s", failed, kind, name, kept)
}

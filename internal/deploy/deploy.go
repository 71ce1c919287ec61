// Package deploy is the only one that changes what a chain is made of. It reads
// what is there, compares it with a plan and makes the difference, stage by
// stage, so that being killed at any moment costs nothing but another run. It
// also undoes everything, finding it by its owner's mark.
package deploy

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/resource/adopted"
	"nfchain.dev/nfchain/internal/resource/bridge"
	"nfchain.dev/nfchain/internal/resource/cni"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/label"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/lookup"
	"nfchain.dev/nfchain/internal/resource/machine"
	"nfchain.dev/nfchain/internal/resource/macvlan"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/neighbour"
	"nfchain.dev/nfchain/internal/resource/nsh"
	"nfchain.dev/nfchain/internal/resource/opens"
	"nfchain.dev/nfchain/internal/resource/ovs"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/qdisc"
	"nfchain.dev/nfchain/internal/resource/redirect"
	"nfchain.dev/nfchain/internal/resource/route"
	"nfchain.dev/nfchain/internal/resource/ruleset"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/resource/through"
	"nfchain.dev/nfchain/internal/resource/tun"
	"nfchain.dev/nfchain/internal/resource/tuning"
)

// stages are made in this order and unmade in the reverse one. Kinds of one stage
// share a visit to each namespace and are made in the order given.
var stages = [][]resource.Kind{
	{machine.Kind{}},
	{container.NamesKind{}},
	{container.NetworkKind{}},
	{container.Kind{}},
	{namespace.Kind{}},
	{adopted.Kind{}},
	{link.Kind{}, tun.Kind{}},
	{macvlan.Kind{}},
	{bridge.Kind{}},
	{bridge.PortKind{}},
	{ovs.Kind{}},
	{ovs.SwitchKind{}},
	{ovs.PortKind{}},
	{cni.Kind{}},
	{address.Kind{}, neighbour.Kind{}, route.Kind{}, lookup.Kind{}, ruleset.Kind{}, qdisc.Kind{}, redirect.Kind{}, pass.Kind{}, label.Kind{}, tuning.Kind{}, through.Kind{}},
	{nsh.PopKind{}},
	{nsh.PushKind{}},
	{steer.Kind{}},
	{opens.Kind{}},
	{process.Kind{}},
	{health.Kind{}},
}

// addressing is the first stage in which no interfaces are made.
var addressing = Stage(address.KindName)

// stageOf kinds by their names.
var stageOf = func() map[string]int {
	of := map[string]int{}
	for i, stage := range stages {
		for _, k := range stage {
			of[k.Name()] = i
		}
	}
	return of
}()

// Stage of a kind, for checking that a plan's needs go only to earlier ones.
func Stage(kind string) int {
	if i, is := stageOf[kind]; is {
		return i
	}
	return -1
}

// Deployer makes plans real.
type Deployer struct {
	// Progress is told what is being done, and how much of it.
	Progress func(what string, done, total int)
	// Doing is told, unless it is nil, what is being done at a moment, in words, where that takes long.
	Doing func(what string)
	// Made is called, unless it is nil, when all is there that is new: what comes after has packets go
	// to it, and takes away what is no longer wanted.
	Made func() error
	// DryRun compares and changes nothing.
	DryRun bool
	// Coming are nodes that no packet is led to before their programs are ready: none went there before.
	Coming map[string]bool
	// Move flows that would stay on an older version of the path to the newest at once.
	Move bool
	// Contained is told, unless it is nil, of each container that runs now: its node, when its engine was asked for it, and when
	// that had started it. It is called from several goroutines.
	Contained func(node string, asked, started time.Time)
	// Restoring has what keeps one container from being started again keep nothing else from being made; Lacking is set by Up to what
	// that was, by the containers' names.
	Restoring bool
	Lacking   map[string]error
	// fetched are the images that Fetch saw to, each with its engine.
	fetched map[string]bool
	// Staying is set by Up to how many flows stay on older versions: what they go by is left then, and removed
	// when Up is called again after they have been idle. Moved is how many were moved.
	Staying, Moved int
	// AtOnce is set by Up to why flows that were under way went the new path at once, how many nobody knows, though they were to stay
	// on the one before; "" where none did.
	AtOnce string
	// Left is set by Up to how many flows replicas that are taken out are left: these go when Up is called again after they have been idle.
	Left int
}

// Up makes the chain what the plan says and returns what it had to change.
func (d *Deployer) Up(ctx context.Context, p *plan.Plan) ([]resource.Change, error) {
	w := d.work(p)
	d.Lacking = w.lacking
	ctx, shut := engine.Share(ctx)
	defer shut()
	defer w.shutForwarder()
	if err := w.look(ctx, p); err != nil {
		return nil, err
	}
	w.move = d.Move
	had := inOrder(enginesOf(p.Chain))
	err := w.bring(ctx, p)
	if err != nil {
		w.starting.stop()
	}
	if err == nil {
		err = w.dropNetworks(ctx, p, had)
	}
	if err == nil && !w.remains() { // else they have what is still needed
		err = w.forgetEngines(ctx, p)
	}
	if err != nil && w.relieved {
		w.succeed(ctx, p, w.phase == making)
	}
	if err != nil && w.begun {
		_ = process.Rest(p.Chain)
	}
	d.Staying, d.Moved, d.AtOnce = w.staying, w.moved, w.leftAtOnce
	d.Left = w.left
	return w.done, err
}

func (d *Deployer) work(p *plan.Plan) *work {
	w := &work{owner: p.Chain, dry: d.DryRun, progress: d.Progress, doing: d.Doing, contained: d.Contained, made: d.Made, restoring: d.Restoring, awaits: d.Coming, fetched: map[string]bool{}, lacking: map[string]error{}, fresh: map[string]bool{}, early: map[visited]bool{}, foretold: map[string]bool{}, let: map[string]bool{}}
	maps.Copy(w.fetched, d.fetched)
	return w
}

// bring the chain to what the plan says.
func (w *work) bring(ctx context.Context, p *plan.Plan) error {
	if err := w.detach(p); err != nil {
		return err
	}
	if steered(p) {
		if !w.dry { // which tells of it with all else that goes: that goes last, and nothing is made in a namespace that goes
			if err := w.dropShared(p); err != nil {
				return err
			}
		}
		return w.replace(ctx, p)
	}
	if err := w.removeDropped(ctx, p); err != nil {
		return err
	}
	for _, stage := range stages {
		if err := w.stage(ctx, stage, p); err != nil {
			return err
		}
	}
	return w.allMade()
}

// allMade tells whoever wants to know.
func (w *work) allMade() error {
	if w.made == nil {
		return nil
	}
	return w.made()
}

// work is one pass over a chain.
type work struct {
	owner string
	dry   bool
	// foretold changes, where none is made.
	foretold map[string]bool
	progress func(string, int, int)
	doing    func(string)
	made     func() error
	// contained is the Deployer's.
	contained func(node string, asked, started time.Time)
	// restoring and lacking are the Deployer's.
	restoring bool
	lacking   map[string]error
	// fetched is the Deployer's.
	fetched map[string]bool
	// fresh namespaces, by ID, were made in this pass: nothing need be looked for in
	// them.
	fresh map[string]bool
	// containers that the owner had when they were looked for, if they were.
	containers *[]engine.Container
	// starting are the containers that start while the rest is made; nil where none do. Of programs in them, let have begun, by ID.
	starting *starting
	let      map[string]bool
	// early is what was made before the turn of its stage.
	early map[visited]bool
	sight sight
	// coming tells of namespaces in which interfaces are to be made.
	coming map[string]bool
	// phase of replacing what a forwarder steers to, the ports that it is to have, and changes of
	// passes there that are made when these are turned.
	phase phase
	ports map[string]bool
	later []resource.Change
	// move flows at once that would stay on their path; how many stay, and how many were moved.
	move           bool
	staying, moved int
	leaving
	// ledElsewhere tells that routes are left which packets may still need until ports are turned.
	ledElsewhere bool
	// begun tells that a supervisor may have been started before there were programs for it.
	begun bool
	// watched tells that somebody watched over functions, and relieved that this was a supervisor of another version, which
	// has ended.
	watched, relieved bool
	// held tells that who watches was told that functions are changed.
	held bool
	// awaits are nodes whose programs are to be ready before packets are led to them.
	awaits map[string]bool
	// apart tells that no function which is watched is changed, so that a failure is one until ports are turned.
	apart bool
	// unwanted tells that nodes are there that are no longer wanted.
	unwanted bool
	// alike tells that flows which stay meet the same inline functions as others, unlike that they would not have met those of an edit which
	// came to no end, and bygone how they meet what others do not any more; nil where they need not, or cannot.
	alike, unlike bool
	bygone        *bygone
	// relabels tells that ports cannot tell by a label where one led that a packet bore before.
	relabels bool
	// leftAtOnce tells why flows go the new path at once; "" where none do, or are to stay.
	leftAtOnce string
	// stayed tells that flows may stay on their path since an earlier change.
	stayed bool
	// forwarder is the namespace of the wiring's own, if there is one: it stays open, since it is looked into again and again.
	forwarder *netns.Handle

	mu sync.Mutex
	// labels that are given when ports know them.
	labels []resource.Change
	done   []resource.Change
}

// wanted of a stage's kinds is this in these places, and nothing in others where something may be.
func (w *work) wanted(kinds []resource.Kind, p *plan.Plan) (wanted map[string]map[string][]resource.Resource, places []string) {
	wanted = map[string]map[string][]resource.Resource{}
	for _, r := range p.Resources {
		if Stage(r.Kind) != Stage(kinds[0].Name()) {
			continue
		}
		place := placeOf(r)
		if wanted[place] == nil {
			wanted[place] = map[string][]resource.Resource{}
			places = append(places, place)
		}
		wanted[place][r.Kind] = append(wanted[place][r.Kind], r)
	}
	return wanted, w.alsoVisit(kinds, p, wanted, places)
}

// stage brings the stage's kinds to what the plan says, namespace by namespace.
func (w *work) stage(ctx context.Context, kinds []resource.Kind, p *plan.Plan) error {
	if err := w.starting.failed(); err != nil {
		return err
	}
	switch kinds[0].Name() {
	case container.NetworkKindName:
		return w.networks(ctx, p)
	case container.KindName:
		return w.contain(ctx, p)
	case adopted.KindName:
		if adopts(p) { // from the machine, for containers that start
			if err := w.starting.wait(); err != nil {
				return err
			}
		}
	case process.KindName:
		if err := w.relieve(); err != nil {
			return err
		}
		if err := w.starting.finish(); err != nil {
			return err
		}
	}
	wanted, places := w.wanted(kinds, p)
	places = w.stillDue(kinds, places)
	total, finished := len(places), 0
	return each(ctx, places, func(place string) error {
		err := w.visit(place, kinds, wanted[place])
		w.mu.Lock()
		defer w.mu.Unlock()
		finished++
		if w.progress != nil {
			w.progress(kinds[0].Name(), finished, total)
		}
		return err
	})
}

// placeOf is where a resource is worked on. Namespaces are made one by one, each
// a place of its own, so that they are made in parallel.
func placeOf(r resource.Resource) string {
	if s, is := r.Spec.(namespace.Spec); is {
		return cmp.Or(s.Of, s.Name) // of which another may be a name, behind it
	}
	return r.Namespace
}

// alsoVisit adds the places that want nothing of the stage but may hold what is
// no longer wanted.
func (w *work) alsoVisit(kinds []resource.Kind, p *plan.Plan, wanted map[string]map[string][]resource.Resource, places []string) []string {
	switch kinds[0].Name() {
	case namespace.KindName, container.KindName, container.NetworkKindName:
		return places
	case container.NamesKindName, process.KindName, adopted.KindName, machine.KindName:
		if wanted[netns.Host] == nil {
			places = append(places, netns.Host)
		}
		return places
	case health.KindName:
		return w.alsoWatched(p, wanted, places)
	case bridge.PortKindName, ovs.KindName, ovs.SwitchKindName, steer.KindName, opens.KindName:
		own := namespace.Name(p.Chain, plan.WiringNode)
		if wanted[own] == nil && netns.Exists(own) && !w.isFresh(own) {
			places = append(places, own)
		}
		return places
	case nsh.PushKindName, nsh.PopKindName, cni.KindName:
		return places // they go with their links, and the last were detached before
	case macvlan.KindName:
		if len(wanted) == 0 && !macvlan.OverHost(w.owner) {
			return places // those over a parent of the chain's own went with it
		}
	}
	for _, name := range p.Namespaces() {
		if wanted[name] == nil && !w.isFresh(name) {
			places = append(places, name)
		}
	}
	return places
}

// alsoWatched adds the forwarder's namespace, where a path may be watched that need not be any
// more, or the host's where there is no forwarder any more.
func (w *work) alsoWatched(p *plan.Plan, wanted map[string]map[string][]resource.Resource, places []string) []string {
	own := namespace.Name(p.Chain, plan.WiringNode)
	switch {
	case wanted[own] != nil || w.isFresh(own):
		return places
	case netns.Exists(own):
		return append(places, own)
	}
	return append(places, netns.Host)
}

// visit compares one place with what is wanted there and makes the difference.
func (w *work) visit(place string, kinds []resource.Kind, wanted map[string][]resource.Resource) error {
	if kinds[0].Name() == namespace.KindName {
		for _, r := range wanted[namespace.KindName] {
			if err := w.visitNamespace(r); err != nil {
				return err
			}
		}
		return nil
	}
	if w.dry && place != netns.Host && !netns.Exists(place) {
		for _, k := range kinds {
			w.record(w.difference(place, k.Name(), nil, wanted[k.Name()])...)
		}
		return nil
	}
	open := &opened{place: place, work: w}
	defer open.close()
	for _, k := range kinds {
		observed, err := w.read(k, place, open)
		if err != nil {
			return err
		}
		changes := w.due(w.difference(place, k.Name(), observed, wanted[k.Name()]))
		if len(changes) > 0 && !w.dry {
			at, err := open.at()
			if err != nil {
				return err
			}
			if err := k.Apply(at, changes); err != nil {
				return err
			}
			w.sight.forget(place, k, changes)
		}
		w.record(changes...)
	}
	return nil
}

// read what is of a kind in a place, unless it is known.
func (w *work) read(k resource.Kind, place string, open *opened) ([]resource.Observed, error) {
	if w.isFresh(place) {
		return nil, nil
	}
	if observed, known := w.sight.of(place, k); known {
		return observed, nil
	}
	at, err := open.at()
	if err != nil {
		return nil, err
	}
	observed, err := k.Read(at)
	if err == nil && k.Name() == health.KindName { // others are seldom asked again
		w.sight.note(place, k, observed)
	}
	return observed, err
}

func (w *work) visitNamespace(r resource.Resource) error {
	spec := r.Spec.(namespace.Spec)
	change := resource.Change{Op: resource.Create, ID: r.ID, Kind: r.Kind, Key: spec.Name, Spec: spec}
	switch is := namespace.Verify(spec, w.coming[spec.Name]); {
	case !netns.Exists(spec.Name):
		w.mu.Lock()
		w.fresh[r.ID] = true
		w.mu.Unlock()
	case is == spec.Fingerprint():
		return nil
	default:
		change.Op, change.Was = resource.Update, is
	}
	w.record(change)
	if w.dry {
		return nil
	}
	w.sight.forget(r.Spec.Key(), namespace.Kind{}, nil)
	return (namespace.Kind{}).Apply(resource.Place{Owner: w.owner}, []resource.Change{change})
}

func (w *work) isFresh(place string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fresh[resource.ID(namespace.KindName, netns.Host, place)]
}

// difference is what turns what was observed into what is wanted: removals
// first, so that a name is free before it is taken again.
func (w *work) difference(place, kind string, observed []resource.Observed, wanted []resource.Resource) []resource.Change {
	have := make(map[string]string, len(observed))
	for _, o := range observed {
		have[o.Key] = o.Fingerprint
	}
	var remove, create []resource.Change
	for _, r := range wanted {
		was, there := have[r.Spec.Key()]
		delete(have, r.Spec.Key())
		if there && was == r.Spec.Fingerprint() && !w.renewed(r) {
			continue
		}
		op := resource.Create
		if there {
			op = resource.Update
		}
		create = append(create, resource.Change{Op: op, ID: r.ID, Kind: kind, Namespace: place, Key: r.Spec.Key(), Spec: r.Spec, Was: was})
	}
	for _, o := range observed {
		if _, unwanted := have[o.Key]; unwanted {
			remove = append(remove, deletion(kind, place, o.Key))
		}
	}
	return append(remove, create...)
}

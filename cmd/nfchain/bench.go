package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/results"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// loadFlags are the flags of a load; text ones are read as a file's words are.
type loadFlags struct {
	load                    api.Load
	payload, rate, duration string
	request, response       string
	direct                  bool
	seed                    int64
	repeat                  repeatFlags
	search                  searchFlags
}

func (l *loadFlags) register(cmd *cobra.Command) {
	l.registerOffered(cmd)
	l.repeat.register(cmd, &l.load)
	l.search.register(cmd)
	cmd.Flags().BoolVar(&l.direct, "direct", true, "measure the path without functions too")
}

// registerOffered adds the flags that say what one trial offers.
func (l *loadFlags) registerOffered(cmd *cobra.Command) {
	l.load = api.DefaultLoad()
	f := cmd.Flags()
	f.StringVar(&l.load.Tool, "traffic", "auto", "traffic tool: auto, "+strings.Join(toolNames(), ", "))
	f.StringSliceVar(&l.load.Protocols, "protocol", []string{trial.TCP}, "what to measure, each its own condition: tcp, udp, latency, tcp_rr, udp_rr, tcp_crr, rfc6349, http")
	f.IntVar(&l.load.Flows, "flows", 1, "parallel independent client/server pairs")
	f.StringVar(&l.payload, "payload-size", "", "bytes of one send (default: the tool's own)")
	f.StringVar(&l.rate, "rate", "", "load offered in sum, such as 500Mbit or 100kpps (default: as much as the tool can)")
	f.StringVar(&l.duration, "duration", "5s", "length of one trial; of rfc6349 alone 31s")
	f.BoolVar(&l.load.Zerocopy, "zerocopy", false, "send with sendfile instead of write (iperf3)")
	f.StringVar(&l.load.Affinity, "affinity", "none", "cores of the tools: none, spread, a list such as 0,2-3, or one for each end: 0/1")
	f.IntVar(&l.load.FrameSize, "frame-size", 0, "bytes of a frame with its check sequence, 64 to 9216, of a tool that makes its own")
	f.StringVar(&l.load.IMIX, "imix", "", "mix of frame sizes by its genome (RFC 6985), such as aaaaaaaddddg")
	f.StringVar(&l.load.Pattern, "pattern", "", "how frames are sent: periodic or poisson (default periodic)")
	f.IntVar(&l.load.Burst, "burst", 0, "frames sent back to back whenever they are due (default 1)")
	f.BoolVar(&l.load.Bidirectional, "bidirectional", false, "send frames from both ends at once, each at the whole rate")
	f.IntVar(&l.load.IPVersion, "ip-version", 0, "IP version of the frames, 4 or 6 (default: the chain's)")
	f.IntVar(&l.load.VLAN, "vlan", 0, "VLAN identifier of the frames (default: no tag)")
	f.StringVar(&l.load.FlowsBy, "flows-by", "", "what flows of frames differ in: ports, addresses or both (default ports)")
	f.StringVar(&l.request, "request-size", "", "bytes of a transaction's request (default 1)")
	f.StringVar(&l.response, "response-size", "", "bytes of a transaction's response, or of the object that http asks for (default 1)")
	f.StringVar(&l.load.URL, "url", "", "what http asks for, of a function, the second end or an address: http://web:8080/; or what udp_rr has give back its datagrams: udp://echo:7007 (default: a server of the tool's own)")
	f.IntVar(&l.load.RequestRate, "request-rate", 0, "http: requests a second that are due over all flows (default: each follows an answer); latency of ping and fping: how many they send (default 500)")
	f.BoolVar(&l.load.BusyLoop, "busy-loop", false, "transactions: ask for messages without sleeping")
	f.Int64Var(&l.seed, "seed", 0, "seed of the order of trials (default: drawn, and recorded)")
}

// read gives the load, or everything that is wrong with it.
func (l *loadFlags) read(cmd *cobra.Command) (api.Load, error) {
	load := l.load
	load.Direct = &l.direct
	if flag := cmd.Flags().Lookup("direct"); flag != nil && !flag.Changed {
		load.Direct = nil // the default, which follows from the chain
	}
	var err error
	for _, size := range []struct {
		flag, text string
		into       *api.Size
	}{{"payload-size", l.payload, &load.PayloadSize}, {"request-size", l.request, &load.RequestSize}, {"response-size", l.response, &load.ResponseSize}} {
		if size.text == "" {
			continue
		}
		if *size.into, err = api.ParseSize(size.text); err != nil {
			return load, fmt.Errorf("--%s: %w: %w", size.flag, err, runs.ErrInput)
		}
	}
	if l.rate != "" {
		if load.Rate, err = flagRate(l.rate); err != nil {
			return load, fmt.Errorf("--rate: %w: %w", err, runs.ErrInput)
		}
	}
	if err := refuseZero(cmd, zero{"payload-size", load.PayloadSize == 0}, zero{"request-size", load.RequestSize == 0},
		zero{"response-size", load.ResponseSize == 0}, zero{"rate", load.Rate == api.LoadRate{}}, zero{"frame-size", load.FrameSize == 0},
		zero{"burst", load.Burst == 0}, zero{"request-rate", load.RequestRate == 0}, zero{"ip-version", load.IPVersion == 0}, zero{"vlan", load.VLAN == 0}); err != nil {
		return load, err
	}
	if err := load.Duration.UnmarshalText([]byte(l.duration)); err != nil {
		return load, fmt.Errorf("--duration: %w: %w", err, runs.ErrInput)
	}
	if err := l.repeat.read(&load); err != nil {
		return load, err
	}
	if err := l.search.read(cmd, &load); err != nil {
		return load, err
	}
	if err := traffic.CheckAffinity(load.Affinity); err != nil {
		return load, fmt.Errorf("--affinity: %w: %w", err, runs.ErrInput)
	}
	for _, p := range registry.Words().CheckLoad(load) {
		return load, fmt.Errorf("--%s: %s: %w", flagOf(p.Path), p.Message, runs.ErrInput)
	}
	if !cmd.Flags().Changed("protocol") {
		load.Protocols = protocolsOf(load)
	}
	if !cmd.Flags().Changed("duration") {
		load.Duration = load.DefaultDuration()
	}
	return load, nil
}

func toolNames() (names []string) {
	for _, t := range registry.Tools {
		names = append(names, t.Name())
	}
	return names
}

// protocolsOf a load whose protocols nobody gave: udp for frames, what the tool
// that was asked for measures first, or else tcp.
func protocolsOf(l api.Load) []string {
	if runs.NeedsFrames(l) {
		return []string{trial.UDP}
	}
	for _, t := range registry.Tools {
		if t.Name() == l.Tool && !slices.Contains(t.Protocols(), trial.TCP) {
			return t.Protocols()[:1]
		}
	}
	return l.Protocols
}

func (a *app) benchCmd() *cobra.Command {
	var l loadFlags
	var o output
	var g gateFlags
	cmd := &cobra.Command{
		Use: "bench FILE|CHAIN", Short: "Offer load to a chain, repeat, store, and print what came out",
		Long: `Offer load to a chain and measure what comes out at the far end, against the direct
path between the same ends. Given a file, the chain is deployed first and removed
after, with those standalone functions of the file that it goes through and that are
not up; given the name of a chain that is up, it stays.

Before the first trial, marked packets are counted at every function in order, both
ways; a run whose traffic misses one is refused.

With --baseline, the conditions of a stored run are measured again and compared
with it: exit code 1 if the chain became slower by more than --tolerance.`,
		Example: `  nfchain bench examples/edge-chain.yaml --protocol tcp,udp,latency
  nfchain bench edge --protocol tcp_rr,tcp_crr --request-size 200 --response-size 4KiB
  nfchain bench edge --protocol rfc6349 --rate 100Mbit --duration 31s
  nfchain bench edge --protocol http --response-size 64KiB --flows 10
  nfchain bench edge --protocol http --url http://web:8080/ --request-rate 500 --flows 10 --direct=false
  nfchain bench edge --flows 8 --zerocopy --duration 30s --repeats 10 -o json
  nfchain bench examples/edge-chain.yaml --until 2% --max-repeats 40
  nfchain bench examples/edge-chain.yaml --redeploy 5
  nfchain bench examples/edge-chain.yaml --baseline last --tolerance 2%`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeChain,
	}
	cmd.RunE = a.privileged(does(func(cmd *cobra.Command, args []string) error {
		load, err := l.read(cmd)
		if err != nil {
			return err
		}
		if load.Search != nil && !cmd.Flags().Changed("repeats") {
			load.Repeats = 1 // a search repeats what it must by itself
		}
		if o.baseline, err = a.baseline(cmd, g, &load); err != nil {
			return err
		}
		return a.bench(cmd.Context(), args[0], load, l.seed, o)
	}))
	l.register(cmd)
	g.register(cmd)
	_ = cmd.RegisterFlagCompletionFunc("baseline", a.completeRuns)
	o.register(cmd)
	return cmd
}

func (a *app) bench(ctx context.Context, arg string, load api.Load, seed int64, o output) error {
	if err := checkWritable("html", o.html); err != nil {
		return err
	}
	h := a.host(ctx)
	m := &runs.Measurement{Host: h, Tools: registry.Tools, Now: a.now, Trial: a.trial}
	chain, spec, lock, err := a.holdSubject(ctx, h, arg, m)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := mayDeploy(h, chain.Metadata.Name, m.Keep); err != nil {
		return err
	}
	if m.Keep && load.Redeploy > 1 {
		return fmt.Errorf("--redeploy would take down %s, which is up; give its file, or bring it down first: %w", arg, runs.ErrInput)
	}
	if load.Direct, err = a.direct(h, chain, load.Direct); err != nil {
		return err
	}
	if load, err = runs.Placed(chain, load); err != nil {
		return err
	}
	conditions, err := conditionsOf(load, chain.Spec.Length(), h, o.baseline)
	if err != nil {
		return err
	}
	if err := h.Offers(chain, conditions, registry.Tools); err != nil {
		return err
	}
	if err := runs.Calibrate(ctx, conditions, registry.Tools); err != nil {
		return err
	}
	for range conditions {
		m.Chains = append(m.Chains, chain)
	}
	r := a.newRun(h, chain.Metadata.Name, spec, seed, load)
	r.Conditions = conditions
	if err := o.baseline.allows(r.Environment); err != nil {
		return err
	}
	store, err := a.store()
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	if err := store.CreateRun(ctx, r); err != nil {
		return err
	}
	m.Store = store
	return a.measure(ctx, m, &r, store, nil, o)
}

// direct tells whether the path without functions is measured too: unless asked, where
// the wiring has one.
func (a *app) direct(h *runs.Host, chain api.Chain, asked *bool) (*bool, error) {
	wanted := asked == nil || *asked
	if !wanted || !h.Catalogue.Loops(chain.Spec.Wiring) {
		return &wanted, nil
	}
	if asked != nil {
		return nil, fmt.Errorf("--direct: wiring %s is the direct path itself, with nothing to compare it with: %w", chain.Spec.Wiring, runs.ErrInput)
	}
	a.say("wiring %s is the direct path itself: no other is measured beside it", chain.Spec.Wiring)
	wanted = false
	return &wanted, nil
}

// subject is the chain to measure and the text it comes from.
func (a *app) subject(ctx context.Context, h *runs.Host, arg string, m *runs.Measurement) (api.Chain, string, error) {
	if err := wholeChain(arg); err != nil {
		return api.Chain{}, "", err
	}
	if isFile(arg) {
		chain, file, text, err := a.oneChain(arg)
		if err == nil {
			m.Alone = file.Functions
			err = h.CheckFunctions(ctx, chain, file.Functions)
		}
		return chain, string(text), err
	}
	if err := checkName(arg); err != nil {
		return api.Chain{}, "", err
	}
	chain, err := h.Chain(arg)
	if err != nil {
		return chain, "", known(err, arg)
	}
	m.Keep = true
	text, err := json.MarshalIndent(chain, "", "  ")
	return chain, string(text), err
}

// holdSubject locks the chain to measure, until its lock is released. One that is there is as it is then: somebody may have been changing it,
// or removing it.
func (a *app) holdSubject(ctx context.Context, h *runs.Host, arg string, m *runs.Measurement) (chain api.Chain, text string, lock *deploy.Lock, err error) {
	if chain, text, err = a.subject(ctx, h, arg, m); err != nil {
		return chain, text, nil, err
	}
	if lock, err = h.Lock(ctx, chain.Metadata.Name); err != nil || !m.Keep {
		return chain, text, lock, err
	}
	if chain, text, err = a.subject(ctx, h, arg, m); err != nil {
		lock.Release()
		return chain, text, nil, err
	}
	return chain, text, lock, nil
}

// mayDeploy refuses to deploy over a chain that somebody brought up; what a killed
// bench left is taken over.
func mayDeploy(h *runs.Host, name string, keep bool) error {
	if keep {
		return nil
	}
	nodes, err := deploy.Nodes(name)
	if err != nil || len(nodes) == 0 && !h.BareIsUp(name) {
		return err
	}
	if !runs.Temporary(name) {
		return fmt.Errorf("%s is up already; `nfchain bench %s` measures it, `nfchain down %s` removes it: %w", name, name, name, runs.ErrInput)
	}
	return nil
}

func (a *app) newRun(h *runs.Host, chain, spec string, seed int64, load api.Load) trial.Run {
	if seed == 0 {
		seed = drawnSeed()
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(random()))
	r := trial.Run{
		SchemaVersion: trial.SchemaVersion, ID: results.NewID(a.now(), b), Chain: chain, State: trial.Running,
		CreatedAt: a.now(), Command: a.args, Spec: spec, Seed: seed, Repeats: load.Repeats, Until: float64(load.Until),
		Redeploy: load.Redeploy, StartAlone: load.StartAlone, Environment: h.Features.Environment(versionText()),
	}
	if load.Until > 0 {
		r.MaxRepeats = load.MostRepeats()
	}
	return r
}

// drawnSeed has 53 bits, so that readers of JSON that know only float64 (RFC 8259,
// section 6), such as jq, give back the seed that repeats the run.
func drawnSeed() int64 { return int64(random() >> 11) }

func random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint64(b[:])
}

// trial shows which trial is running.
func (a *app) trial(done, total int, c trial.Condition, left time.Duration) {
	if a.quiet || !a.terminal {
		return
	}
	a.bar.out = a.stderr
	if total == 0 { // of a search, whose end nobody knows
		a.bar.show(a.now(), true, fmt.Sprintf("%strial %d: %.0f frames/s for %v s over the %s path", a.whole, done+1, c.OfferedPps, c.DurationS, c.Path))
		return
	}
	of := "of"
	if a.upTo {
		of = "of at most"
	}
	rest := fmt.Sprintf("%s left", left)
	if a.whole != "" {
		rest += fmt.Sprintf(", %s of all", (left + a.after).Round(time.Second))
	}
	a.bar.show(a.now(), true, fmt.Sprintf("%strial %d %s %d: %s over the %s path, length %d, %s; %s",
		a.whole, done+1, of, total, c.Protocol, c.Path, c.Length, words.Plural(c.Flows, "flow"), rest))
}

// flagOf a load's field, by its path in a file.
func flagOf(path string) string {
	path, _, _ = strings.Cut(path, "[")
	switch path {
	case "tool":
		return "traffic"
	case "protocols":
		return "protocol"
	}
	return strings.ReplaceAll(path, "_", "-")
}

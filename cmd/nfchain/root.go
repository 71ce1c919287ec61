package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/plugin"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/results"
	runs "nfchain.dev/nfchain/internal/run"
)

// env is what a command touches of the world, so that a test can hand it another.
type env struct {
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	now            func() time.Time
	// terminal tells that stderr is one, so that progress makes sense.
	terminal bool
}

// The exit codes.
const (
	exitDone    = 0
	exitFailed  = 1 // the run failed, or some of its trials, or a gate that was asked for
	exitInput   = 2 // what was given is wrong
	exitMachine = 3 // this machine lacks something
)

// app is one invocation.
type app struct {
	env
	quiet   bool
	results string
	bar     bar
	// upTo tells that a run's number of trials is only the most that there may be.
	upTo bool
	// whole says which of several experiments is running, empty for one alone; after is how
	// long those take that come after it.
	whole string
	after time.Duration
	// uninterruptible ends what the context is interrupted by, and the context.
	uninterruptible func()
	// unwritten is why standard output did not take something.
	unwritten error
}

// run executes a command line and gives its exit code.
func run(e env) int {
	ctx, stop := context.Background(), func() {}
	if !becomes(e.args) {
		ctx, stop = interruptible(e)
	}
	defer stop()
	a := &app{env: e, uninterruptible: stop}
	root := a.root()
	root.SetArgs(e.args[1:])
	if len(e.args) == 1 && e.getenv(plugin.CommandVariable) != "" {
		root.SetArgs([]string{"cni"}) // a runtime calls it
	}
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	exit := exitCode{}
	if err = missingFlags(cmd, err); err == nil || a.unwritten != nil && errors.As(err, &exit) {
		err = a.unwritten
	}
	a.bar.clear()
	if err == nil {
		return exitDone
	}
	if errors.As(err, &exit) {
		return exit.code // a command run by exec has said what there is to say
	}
	_, _ = fmt.Fprintln(e.stderr, "nfchain: "+describe(err)+unseen(err, feature.Host().InUserNS()))
	return code(err)
}

// unseen says that chains of the machine's root are not seen from a user namespace, where a chain was asked for that is not there.
func unseen(err error, within bool) string {
	if !within || !errors.Is(err, runs.ErrUnknown) {
		return ""
	}
	return "; without root those of root are not seen: sudo nfchain …"
}

// exitCode is the exit code of a command that nfchain ran for the user.
type exitCode struct{ code int }

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// interruptible gives a context that the first interrupt ends; the second ends
// the process at once. A terminal that goes interrupts too, but for who was told not to mind (nohup).
func interruptible(e env) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, unread := make(chan os.Signal, 2), make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		if _, ok := <-signals; !ok {
			return
		}
		// Who read what is said may have been interrupted as well, as a tee is: to write to nobody ends no clean-up, nor does a terminal that goes,
		// of which shell and kernel both tell.
		signal.Notify(unread, syscall.SIGPIPE)
		signal.Ignore(syscall.SIGHUP)
		cancel()
		_, _ = fmt.Fprintln(e.stderr, "nfchain: stopping; interrupt again to leave at once")
		for s := range signals {
			if s != syscall.SIGHUP { // which had come by then
				os.Exit(130)
			}
		}
	}()
	return ctx, sync.OnceFunc(func() { signal.Stop(signals); signal.Stop(unread); close(signals); cancel() })
}

// becomes tells whether a command line is of a process that turns into a program. Who asks it to end means the program, and one
// that took that for itself would begin the program nevertheless.
func becomes(args []string) bool { return len(args) > 1 && args[1] == insideCommand }

// describe an error for a person. Several problems of a file come a line each.
func describe(err error) string {
	var problems api.Problems
	if errors.As(err, &problems) {
		return "the file is wrong:\n" + problems.Error()
	}
	wrong := ": " + runs.ErrInput.Error()
	text := strings.ReplaceAll(strings.TrimSuffix(err.Error(), wrong), wrong+"; ", "; ") // what was done about it is behind
	return strings.ReplaceAll(text, context.Canceled.Error(), "interrupted")
}

// acted marks an error that came from a command's own work; any other is cobra's
// about the command line.
type acted struct{ error }

func (a acted) Unwrap() error { return a.error }

func code(err error) int {
	var problems api.Problems
	switch {
	case errors.Is(err, feature.ErrMissing):
		return exitMachine
	case errors.As(err, &problems), errors.Is(err, runs.ErrInput), errors.Is(err, runs.ErrUnknown),
		errors.Is(err, results.ErrNotFound), errors.Is(err, results.ErrNone), errors.Is(err, results.ErrAmbiguous), errors.Is(err, results.ErrForeign), errors.Is(err, experiment.ErrSweep), !errors.As(err, &acted{}):
		return exitInput
	}
	return exitFailed
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "nfchain",
		Short: "Deploy service function chains, offer them load, report what comes out",
		Long: `nfchain deploys service function chains (RFC 7665) made of network namespaces,
offers them load, and reports goodput, loss and latency with intervals that a
reader can trust and repeat.

Exit codes: 0 done; 1 the run failed, or some of its trials, or a gate that was asked for
(--strict, --baseline, compare); 2 the input is wrong; 3 this machine lacks something, which is named.`,
		Example: `  nfchain doctor                            # what this machine can do
  nfchain bench examples/edge-chain.yaml    # deploy, measure, report, remove
  nfchain up examples/edge-chain.yaml       # deploy and leave
  nfchain down edge`,
		SilenceErrors: true, SilenceUsage: true,
	}
	root.AddCommand(a.trafficCmds()...)
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress on standard error")
	root.PersistentFlags().StringVar(&a.results, "results", "", "results database (default: $XDG_DATA_HOME/nfchain/results.db)")
	root.AddCommand(a.doctorCmd(), a.validateCmd(), a.planCmd(), a.diffCmd(), a.upCmd(), a.downCmd(), a.lsCmd(), a.showCmd(), a.functionCmd(), a.traceCmd(), a.explainCmd(), a.captureCmd(), a.profileCmd(),
		a.execCmd(), a.logsCmd(), a.benchCmd(), a.experimentCmd(), a.reproduceCmd(), a.runsCmd(), a.reportCmd(), a.modelCmd(), a.compareCmd(), a.adviseCmd(), a.gateCmd(), a.schemaCmd(), a.versionCmd(), a.genCmd(), a.meterCmd(), a.superviseCmd(), a.applyCmd(), a.insideCmd(), a.impairProgramCmd(), a.holdCmd(), a.inCmd())
	root.AddCommand(a.calibrateCmd(), a.cniCmd())
	root.SetFlagErrorFunc(explainFlag)
	explainCobra(root)
	explainArguments(root)
	return root
}

// does wraps a command's own work, so that its errors are told from cobra's.
func does(fn func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := fn(cmd, args); err != nil {
			return acted{err}
		}
		return nil
	}
}

// host is this machine for commands that act.
func (a *app) host(ctx context.Context) *runs.Host {
	return &runs.Host{
		Catalogue: registry.Plan(), Words: registry.Words(), Features: feature.Probe(ctx, feature.Host()),
		Progress: a.progress, Say: a.remark, Doing: a.doing,
	}
}

func (a *app) say(format string, args ...any) {
	a.bar.clear()
	if !a.quiet {
		_, _ = fmt.Fprintf(a.stderr, format+"\n", args...)
	}
}

// remark is progress in words, and so only for a terminal.
func (a *app) remark(format string, args ...any) {
	if a.terminal {
		a.say(format, args...)
	}
}

// store opens the results database and makes it if need be.
func (a *app) store() (*results.Store, error) { return results.Open(a.resultsPath()) }

// stored opens the results database for a command that reads what is in it.
func (a *app) stored() (*results.Store, error) { return results.OpenExisting(a.resultsPath()) }

func (a *app) resultsPath() string {
	if path := a.named(); path != "" {
		return path
	}
	return results.DefaultPath(a.getenv("XDG_DATA_HOME"), a.getenv("HOME"))
}

// named is the results database that the user chose, if he did.
func (a *app) named() string {
	if a.results != "" {
		return a.results
	}
	return a.getenv("NFCHAIN_RESULTS")
}

// read takes a file in, "-" being standard input.
func (a *app) read(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(a.stdin, 8<<20))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, unread(name, err)
	}
	return text, nil
}

// unread says why a file was not read.
func unread(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %q: %w", name, runs.ErrInput)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Errorf("%q is a directory; name a file in it: %w", name, runs.ErrInput)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the file %q may not be read by user %d: %w", name, os.Getuid(), runs.ErrInput)
	}
	return fmt.Errorf("%w: %w", err, runs.ErrInput)
}

// file reads and decodes a file.
func (a *app) file(name string) (*api.File, []byte, error) {
	text, err := a.read(name)
	if err != nil {
		return nil, nil, err
	}
	f, err := registry.Words().Decode(name, text)
	if err != nil {
		err = besides(name, text, err)
	}
	if err == nil {
		err = findImages(name, text, f)
	}
	if err == nil {
		err = findFiles(name, text, f)
	}
	if err == nil {
		err = readProfiles(name, text, f)
	}
	return f, text, err
}

// oneChain reads a file that must hold exactly one chain.
func (a *app) oneChain(name string) (api.Chain, *api.File, []byte, error) {
	f, text, err := a.file(name)
	if err != nil {
		return api.Chain{}, nil, nil, err
	}
	if len(f.Chains) == 0 && len(f.Experiments) > 0 {
		return api.Chain{}, nil, nil, fmt.Errorf("%s holds an experiment; `nfchain experiment run %s --dry-run` says what it would do: %w", name, name, runs.ErrInput)
	}
	if len(f.Chains) != 1 {
		return api.Chain{}, nil, nil, fmt.Errorf("%s holds %d chains; this command takes a file with exactly one: %w", name, len(f.Chains), runs.ErrInput)
	}
	return f.Chains[0], f, text, nil
}

// isFile tells a file's name from a chain's.
func isFile(arg string) bool { return strings.ContainsRune(arg, '/') || isFileName(arg) }

// isFileName tells a file's name from CHAIN/NODE, too: it is there, or ends as files do.
func isFileName(arg string) bool {
	if arg == "-" || strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml") || strings.HasSuffix(arg, ".json") {
		return true
	}
	info, err := os.Stat(arg)
	return err == nil && !info.IsDir()
}

// checkName refuses what cannot be a chain's name before it goes anywhere.
func checkName(name string) error {
	if err := api.CheckName(name); err != nil {
		return fmt.Errorf("%w: %w", err, runs.ErrInput)
	}
	return nil
}

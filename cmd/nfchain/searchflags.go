package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	api "nfchain.dev/nfchain/api/v1alpha1"
	runs "nfchain.dev/nfchain/internal/run"
)

// searchFlags ask for a search instead of a load.
type searchFlags struct {
	method, least, most, medium string
	goals, limits               []string
	quick                       bool
}

func (s *searchFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.method, "search", "", "search for loads instead of offering one: "+strings.Join(api.SearchMethods(), ", "))
	f.StringSliceVar(&s.goals, "goal", nil, "what the load must meet: ndr, pdr, rfc2544, tst009, or loss=0.001 (default: the method's)")
	f.StringArrayVar(&s.limits, "limit", nil, "service level that each goal must keep too, such as 'one_way_latency_p99_ns<=50000'")
	f.StringVar(&s.least, "min-rate", "", "lowest load of a search (default: a thousandth of the highest)")
	f.StringVar(&s.most, "max-rate", "", "highest load of a search, such as 2Mpps (default: what the generator can send)")
	f.StringVar(&s.medium, "medium-rate", "", "most that the medium carries: 14.88Mpps, or 10Gbit, which is rate/((size+20)*8) frames (default: no limit)")
	f.BoolVar(&s.quick, "quick", false, "search with trials of a second and short waits, which deviates from the standards")
	_ = cmd.RegisterFlagCompletionFunc("search", cobra.FixedCompletions(api.SearchMethods(), cobra.ShellCompDirectiveNoFileComp))
}

// read puts the search into the load, if there is one.
func (s *searchFlags) read(cmd *cobra.Command, l *api.Load) error {
	if s.method == "" {
		for _, name := range []string{"goal", "limit", "min-rate", "max-rate", "medium-rate", "quick"} {
			if cmd.Flags().Changed(name) {
				return fmt.Errorf("--%s is for searches; say which with --search: %w", name, runs.ErrInput)
			}
		}
		return nil
	}
	if !slices.Contains(api.SearchMethods(), s.method) {
		return fmt.Errorf("--search: there is no method %q; choose from %s: %w", s.method, strings.Join(api.SearchMethods(), ", "), runs.ErrInput)
	}
	out := &api.Search{Method: s.method, Quick: s.quick}
	for flag, field := range map[string]*api.LoadRate{"min-rate": &out.MinRate, "max-rate": &out.MaxRate} {
		text := map[string]string{"min-rate": s.least, "max-rate": s.most}[flag]
		if text == "" {
			continue
		}
		rate, err := flagRate(text)
		if err != nil {
			return fmt.Errorf("--%s: %w: %w", flag, err, runs.ErrInput)
		}
		*field = rate
	}
	if err := s.readMedium(l.FrameSize, &out.MediumRate); err != nil {
		return err
	}
	limits, err := s.readLimits()
	if err != nil {
		return err
	}
	for _, text := range s.goals {
		g, err := readGoal(text)
		if err != nil {
			return err
		}
		out.Goals = append(out.Goals, g)
	}
	if len(limits) > 0 && len(out.Goals) == 0 {
		return fmt.Errorf("--limit: say the goal that it belongs to, such as --goal ndr: %w", runs.ErrInput)
	}
	for i := range out.Goals {
		out.Goals[i].Limits = limits
	}
	l.Search = out
	return nil
}

// betweenFrames is what Ethernet sends beside each frame, bytes: preamble and gap (RFC 2544
// appendix B).
const betweenFrames = 20

// readMedium reads the most that the medium carries, in frames, or in bits of frames of a size.
func (s *searchFlags) readMedium(size int, to *api.LoadRate) error {
	if s.medium == "" {
		return nil
	}
	rate, err := flagRate(s.medium)
	if err != nil {
		return fmt.Errorf("--medium-rate: %w: %w", err, runs.ErrInput)
	}
	if rate.Bits > 0 {
		if size == 0 {
			return fmt.Errorf("--medium-rate %s: how many frames that is depends on their size; give --frame-size, or a rate of frames: %w", s.medium, runs.ErrInput)
		}
		rate = api.LoadRate{Frames: rate.Bits / uint64((size+betweenFrames)*8)}
	}
	*to = rate
	return nil
}

var knownGoals = []string{"ndr", "pdr", "rfc2544", "tst009"}

// readGoal reads the name of a known goal, or "loss=0.001".
func readGoal(text string) (api.SearchGoal, error) {
	ratio, is := strings.CutPrefix(text, "loss=")
	if !is && !slices.Contains(knownGoals, text) {
		return api.SearchGoal{}, fmt.Errorf("--goal %s: there is no such goal; choose from %s, or write a loss such as loss=0.001: %w", text, strings.Join(knownGoals, ", "), runs.ErrInput)
	}
	if !is {
		return api.SearchGoal{Like: text}, nil
	}
	v, err := strconv.ParseFloat(ratio, 64)
	if err != nil {
		return api.SearchGoal{}, fmt.Errorf("--goal %s: %q is no share; write one such as loss=0.001: %w", text, ratio, runs.ErrInput)
	}
	return api.SearchGoal{Like: "ndr", Name: "loss-" + ratio, LossRatio: &v}, nil
}

// readLimits reads "metric<=value" and "metric>=value".
func (s *searchFlags) readLimits() (out []api.SearchLimit, err error) {
	for _, text := range s.limits {
		metric, value, most := strings.Cut(text, "<=")
		if !most {
			var least bool
			if metric, value, least = strings.Cut(text, ">="); !least {
				return nil, fmt.Errorf("--limit %q: write a metric, <= or >=, and a value in the metric's unit: %w", text, runs.ErrInput)
			}
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return nil, fmt.Errorf("--limit %q: %q is no number: %w", text, value, runs.ErrInput)
		}
		l := api.SearchLimit{Metric: strings.TrimSpace(metric), AtLeast: &v}
		if most {
			l.AtMost, l.AtLeast = &v, nil
		}
		out = append(out, l)
	}
	return out, nil
}

package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	api "nfchain.dev/nfchain/api/v1alpha1"
	runs "nfchain.dev/nfchain/internal/run"
)

// onlyFlags refuses flags other than those named, saying why.
func onlyFlags(cmd *cobra.Command, names []string, why string) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(names, f.Name) {
			err = fmt.Errorf("--%s: %s, so leave this out: %w", f.Name, why, runs.ErrInput)
		}
	})
	return err
}

// zero is a flag with whether its value is 0.
type zero struct {
	name string
	is   bool
}

// refuseZero refuses flags that are given as 0, where leaving them out means something else.
func refuseZero(cmd *cobra.Command, flags ...zero) error {
	for _, z := range flags {
		if f := cmd.Flags().Lookup(z.name); z.is && f != nil && f.Changed && f.Value.String() != "" {
			return fmt.Errorf("--%s: 0 cannot be had; leave it out for the default: %w", z.name, runs.ErrInput)
		}
	}
	return nil
}

// flagRate reads the load that a flag asks for. A number alone would be so many bits a second,
// which nobody means.
func flagRate(text string) (rate api.LoadRate, err error) {
	if rate, err = api.ParseLoadRate(text); err != nil || rate == (api.LoadRate{}) {
		return rate, err
	}
	if _, bare := strconv.ParseFloat(text, 64); bare == nil {
		return rate, fmt.Errorf("%q has no unit; write %sbit, %sMbit or %spps", text, text, text, text)
	}
	return rate, nil
}

// explainFlag says what is wrong with a flag's value, and what is right.
func explainFlag(cmd *cobra.Command, err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return unknownFlag(cmd, err)
	}
	flag, value := wrong.GetFlag(), strconv.Quote(wrong.GetValue())
	var number *strconv.NumError
	if errors.As(err, &number) && errors.Is(number.Err, strconv.ErrRange) {
		return fmt.Errorf("--%s: %s is out of range", flag.Name, value)
	}
	switch flag.Value.Type() {
	case "bool":
		return fmt.Errorf("--%s: %s is neither true nor false", flag.Name, value)
	case "int", "int64":
		return fmt.Errorf("--%s: %s is not a whole number; write one like %s", flag.Name, value, flag.DefValue)
	case "uint32", "uint64":
		return fmt.Errorf("--%s: %s is not a whole number from 0", flag.Name, value)
	case "duration":
		if _, own := flag.Value.(budgetFlag); own {
			return err // which says what to write
		}
		return fmt.Errorf("--%s: %s is not a time with its unit; write one like %s", flag.Name, value, timeLike(wrong.GetValue()))
	case "float64":
		return fmt.Errorf("--%s: %s is not a number; write one like %s", flag.Name, value, flag.DefValue)
	}
	return err
}

// timeLike is a time that may be meant by a text that is none: a number alone is of seconds.
func timeLike(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		if _, err := time.ParseDuration(text + "s"); err == nil {
			return text + "s"
		}
	}
	return "1s or 500ms"
}

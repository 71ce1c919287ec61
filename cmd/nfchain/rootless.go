package main

import (
	"github.com/spf13/cobra"
)

// privileged runs a command that touches the kernel.
func (a *app) privileged(fn func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return fn
}

// Command nfchain deploys service function chains, offers them load and reports
// what comes out.
package main

import (
	"os"
	"time"

	"golang.org/x/term"
)

func main() {
	os.Exit(run(env{
		args: os.Args, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, now: time.Now,
		terminal: term.IsTerminal(int(os.Stderr.Fd())),
	}))
}

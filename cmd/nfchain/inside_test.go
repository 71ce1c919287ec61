package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/resource/process"
)

// TestExecute: interrupts are for the command, which says how it ends, and who asks nfchain to end means it too.
func TestExecute(t *testing.T) {
	for script, want := range map[string]int{
		"kill -INT $PPID; kill -INT $PPID; sleep 0.2; exit 7": 7,
		"kill -TERM $PPID; exec sleep 30":                     143,
	} {
		var said bytes.Buffer
		e := env{args: []string{"sh"}, stdin: strings.NewReader(""), stdout: &said, stderr: &said}
		_, stop := interruptible(e)
		a := &app{env: e, uninterruptible: stop}
		err := a.execute([]string{"/bin/sh", "-c", script})
		if exit := (exitCode{}); !errors.As(err, &exit) || exit.code != want || said.Len() > 0 {
			t.Errorf("%s: %v, %q; want %d", script, err, said.String(), want)
		}
		stop()
	}
}

// TestBecomes: what becomes a program keeps no signal from it.
func TestBecomes(t *testing.T) {
	if !becomes(inside("nfchain.edge.fw", "", process.Spec{Own: true}, []string{"nfchain", "impair"})) {
		t.Error("what becomes a program takes its signals")
	}
	for _, args := range [][]string{{"nfchain"}, {"nfchain", "exec", "edge", "inside"}} {
		if becomes(args) {
			t.Errorf("%q becomes no program", args)
		}
	}
}

package bpf

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestObjectsAreOfTheirSources holds what is committed to what was compiled: every object
// is of the source and the headers that scripts/bpf noted beside it.
func TestObjectsAreOfTheirSources(t *testing.T) {
	sources, err := filepath.Glob("*/*.c")
	if err != nil || len(sources) == 0 {
		t.Fatalf("there are no programs: %v", err)
	}
	for _, source := range sources {
		dir := filepath.Dir(source)
		noted := strings.Split(strings.TrimSpace(read(t, filepath.Join(dir, "sums"))), "\n")
		now := []string{sum(t, strings.TrimSuffix(source, ".c")+"_bpfel.o")}
		for _, name := range included(t, source) {
			now = append(now, sum(t, name))
		}
		slices.Sort(noted)
		slices.Sort(now)
		if !slices.Equal(now, noted) {
			t.Errorf("%s is not what was compiled; run `make bpf`:\nnow\n%s\nthen\n%s", dir, strings.Join(now, "\n"), strings.Join(noted, "\n"))
		}
	}
}

// sum of a file, as sha256sum prints it in a directory beside that of the file, or in its own.
func sum(t *testing.T, name string) string {
	t.Helper()
	hash, seen := sha256.Sum256([]byte(read(t, name))), filepath.Base(name)
	if filepath.Ext(name) == ".h" {
		seen = "../" + name
	}
	return hex.EncodeToString(hash[:]) + "  " + seen
}

var includes = regexp.MustCompile(`(?m)^#include "(.*)"$`)

// included are a source and the headers that it includes, and those that these do.
func included(t *testing.T, source string) []string {
	t.Helper()
	all := []string{source}
	for i := 0; i < len(all); i++ {
		for _, m := range includes.FindAllStringSubmatch(read(t, all[i]), -1) {
			if name := filepath.Join(filepath.Dir(all[i]), m[1]); !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestProgramsSayTheirLicence looks at the first line of each.
func TestProgramsSayTheirLicence(t *testing.T) {
	for _, pattern := range []string{"*/*.h", "*/*.c"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if first, _, _ := strings.Cut(read(t, name), "\n"); !strings.Contains(first, "SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0") {
				t.Errorf("%s does not say its licence first: %q", name, first)
			}
		}
	}
}

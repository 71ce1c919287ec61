package bpf

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// TestObjectsAreOfTheirSources holds what is committed to what was compiled: every
// source, header and object is the one that scripts/bpf noted.
func TestObjectsAreOfTheirSources(t *testing.T) {
	var names []string
	for _, pattern := range []string{"*/*.h", "*/*.c", "*/*.o"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v %v", pattern, found, err)
		}
		names = append(names, found...)
	}
	var now []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		now = append(now, hex.EncodeToString(sum[:])+"  bpf/"+name)
	}
	noted, err := os.ReadFile("sums")
	if err != nil {
		t.Fatal(err)
	}
	then := strings.Split(strings.TrimSpace(string(noted)), "\n")
	sort.Strings(now)
	sort.Strings(then)
	if strings.Join(now, "\n") != strings.Join(then, "\n") {
		t.Errorf("the programs are not those that were compiled; run `make bpf`:\nnow\n%s\nthen\n%s", strings.Join(now, "\n"), strings.Join(then, "\n"))
	}
}

// TestProgramsSayTheirLicence looks at the first line of each.
func TestProgramsSayTheirLicence(t *testing.T) {
	for _, pattern := range []string{"*/*.h", "*/*.c"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if first, _, _ := strings.Cut(string(text), "\n"); !strings.Contains(first, "SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0") {
				t.Errorf("%s does not say its licence first: %q", name, first)
			}
		}
	}
}

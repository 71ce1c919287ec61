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

// directive is a line that says what of a source is compiled, and its word.
var directive = regexp.MustCompile(`^#(include|define|ifdef|ifndef|else|endif)\b *"?([^" ]*)`)

// included are a source and the headers that it includes, and those that these do: but for what is
// there only where a name is defined, and that is not.
func included(t *testing.T, source string) []string {
	t.Helper()
	all, defined := []string{source}, map[string]bool{}
	var follow func(name string)
	follow = func(name string) {
		var left []bool // of each #ifdef and #ifndef around, whether its lines are left out
		for _, line := range strings.Split(read(t, name), "\n") {
			m := directive.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			switch out := slices.Contains(left, true); {
			case m[1] == "ifdef" || m[1] == "ifndef":
				left = append(left, defined[m[2]] != (m[1] == "ifdef"))
			case m[1] == "else":
				left[len(left)-1] = !left[len(left)-1]
			case m[1] == "endif":
				left = left[:len(left)-1]
			case m[1] == "define" && !out:
				defined[m[2]] = true
			case m[1] == "include" && !out:
				if header := filepath.Join(filepath.Dir(name), m[2]); !slices.Contains(all, header) {
					all = append(all, header)
					follow(header)
				}
			}
		}
	}
	follow(source)
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

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/words"
)

// differingPart is one value of a resource that is another than it was, by its place in the resource, or its name in an environment;
// "" is none.
type differingPart struct {
	Path    string `json:"path"`
	Was     string `json:"was"`
	WouldBe string `json:"would_be"`
}

// madeBefore are the resources that a chain was made from, by their IDs, of its last file and, where not all of that came to be there, of the one
// before; none where nothing of it is known.
func madeBefore(h *runs.Host, name string) map[string][]resource.Spec {
	all := map[string][]resource.Spec{}
	for _, made := range []func(string) (*plan.Plan, error){h.Made, h.Settled} {
		p, err := made(name)
		if err != nil {
			continue
		}
		for _, r := range p.Resources {
			all[r.ID] = append(all[r.ID], r.Spec)
		}
	}
	return all
}

// replacedBy a change is the one of these that the kernel has, or else the first; nil where there is none.
func replacedBy(c resource.Change, before []resource.Spec) resource.Spec {
	if at := slices.IndexFunc(before, func(s resource.Spec) bool { return s.Fingerprint() == c.Was }); at >= 0 {
		return before[at]
	}
	if len(before) > 0 {
		return before[0]
	}
	return nil
}

// partsOf a change that say more than the kernel can: of a resource that is as the chain's file had it, of which the kernel keeps a sum alone.
func partsOf(c resource.Change, was resource.Spec) []differingPart {
	if was == nil || was.Fingerprint() != c.Was || !summed(c.Was, c.Spec.Fingerprint()) {
		return nil
	}
	return differing(was, c.Spec)
}

// wordsOf a change are the lines that differ, where both are told in words: of a resource that is as the chain's file had it, or whose
// fingerprint is settings with their values.
func wordsOf(c resource.Change, was resource.Spec) []string {
	before, told := was.(resource.Worded)
	after, tells := c.Spec.(resource.Worded)
	if told && tells && was.Fingerprint() == c.Was {
		return words.Difference(before.Words(), after.Words())
	}
	had, has := settings(c.Was), settings(c.Spec.Fingerprint())
	if had == nil || has == nil {
		return nil
	}
	return words.Difference(had, has)
}

// settings of a text that is nothing else; none of another.
func settings(text string) []string {
	all := strings.Fields(text)
	if slices.ContainsFunc(all, func(word string) bool { return !strings.Contains(word, "=") }) {
		return nil
	}
	return all
}

// isAnother tells whether the kernel has something else than the chain's file had, of which nobody can say what.
func isAnother(c resource.Change, was resource.Spec) bool {
	_, worded := was.(resource.Worded)
	return was != nil && was.Fingerprint() != c.Was && (worded || summed(c.Was, c.Spec.Fingerprint()))
}

// sum is a word that stands for what a person cannot read.
var sum = regexp.MustCompile(`^[(]?[0-9a-f]{8,}[,:;)]*$`)

// summed tells whether two texts differ in such a word.
func summed(was, is string) bool {
	before := strings.Fields(was)
	return slices.ContainsFunc(strings.Fields(is), func(word string) bool { return sum.MatchString(word) && !slices.Contains(before, word) })
}

// differing values of two specs, in the order of their places.
func differing(was, is resource.Spec) (parts []differingPart) {
	before, after := flat(was), flat(is)
	places := map[string]bool{}
	for path := range before {
		places[path] = true
	}
	for path := range after {
		places[path] = true
	}
	for _, path := range slices.SortedFunc(maps.Keys(places), natural) {
		if before[path] != after[path] {
			parts = append(parts, differingPart{path, before[path], after[path]})
		}
	}
	return parts
}

// natural order of paths: that of numbers in them, too.
func natural(a, b string) int {
	return strings.Compare(padded(a), padded(b))
}

var digits = regexp.MustCompile(`[0-9]+`)

func padded(path string) string {
	return digits.ReplaceAllStringFunc(path, func(n string) string { return fmt.Sprintf("%9s", n) })
}

// flat are the values of a spec, which is plain data, by their places.
func flat(s resource.Spec) map[string]string {
	text, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	values := map[string]string{}
	flatten("", document(text), values)
	return values
}

// document is what a text of JSON says, with numbers as they are written; nil where it is none.
func document(text []byte) (all any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if !json.Valid(text) || decoder.Decode(&all) != nil {
		return nil
	}
	return all
}

func flatten(path string, value any, into map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		for name, of := range v {
			flatten(strings.TrimPrefix(path+"."+name, "."), of, into)
		}
	case []any:
		if named := variables(v); path == "env" && named != nil {
			for name, of := range named {
				into[path+"["+name+"]"] = quoted(of)
			}
			return
		}
		for i, of := range v {
			flatten(fmt.Sprintf("%s[%d]", path, i), of, into)
		}
	case nil:
	case string:
		// Programs of nfchain's own are given what they do as a document.
		if inside, is := document([]byte(v)).(map[string]any); is && len(inside) > 0 {
			flatten(path, inside, into)
			return
		}
		into[path] = quoted(v)
	default:
		into[path] = quoted(v)
	}
}

// variables of an environment by their names, so that one which comes before others makes these no others; nil of a list that has others.
func variables(list []any) map[string]string {
	named := map[string]string{}
	for _, of := range list {
		text, _ := of.(string)
		name, value, is := strings.Cut(text, "=")
		if _, twice := named[name]; twice || !is || !variable.MatchString(name) {
			return nil
		}
		named[name] = value
	}
	return named
}

// variable is the name of one, as shells have it.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func quoted(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// text of a part, as diff(1) has it.
func (p differingPart) text(named func(string) string) (lines []string) {
	if p.Was != "" {
		lines = append(lines, named("- "+p.Path+": "+p.Was))
	}
	if p.WouldBe != "" {
		lines = append(lines, named("+ "+p.Path+": "+p.WouldBe))
	}
	return lines
}

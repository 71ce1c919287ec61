package tree

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: {c: 'x', \"d\": ~}\n": "1:1{a@1:1=1:4:2:1 b@2:1=2:4{c@2:5=2:8:1:x d@2:13=2:18:0:}}",
		"- 1\n-  - x\n   - \"1\"\n":     "1:1[1:3:2:1 2:4[2:6:1:x 3:6:1:1]]",
		"---\n---\na: |\n  x\n  y\n":    "3:1{a@3:1=3:4:1:x\ny\n}",
		"{\n\t\"a\": [1e3, true, 10]}":  "1:1{a@2:2=2:7[2:8:3:1e3 2:13:4:true 2:19:2:10]}",
		"\uFEFFa: .inf\r\nb: -0.5\r\n":  "1:1{a@1:1=1:4:1:.inf b@2:1=2:4:3:-0.5}",
	} {
		docs, errs := Parse([]byte(text))
		if len(errs) > 0 {
			t.Errorf("%q: %v", text, errs)
			continue
		}
		if got := dump(docs[0]); len(docs) != 1 || got != want {
			t.Errorf("%q: got\n%q, want\n%q", text, got, want)
		}
	}
}

// dump writes a node as line:column:kind:text.
func dump(n *Node) string {
	at := fmt.Sprintf("%d:%d", n.Line, n.Column)
	var parts []string
	switch n.Kind {
	case List:
		for _, item := range n.Items {
			parts = append(parts, dump(item))
		}
		return at + "[" + strings.Join(parts, " ") + "]"
	case Map:
		for _, e := range n.Entries {
			parts = append(parts, fmt.Sprintf("%s@%d:%d=%s", e.Key, e.KeyPos.Line, e.KeyPos.Column, dump(e.Value)))
		}
		return at + "{" + strings.Join(parts, " ") + "}"
	}
	return fmt.Sprintf("%s:%d:%s", at, int(n.Kind), n.Text)
}

func TestEmptyFilesHaveNoDocuments(t *testing.T) {
	for _, text := range []string{"", "\n", "# a comment\n", "---\n---\n", "null\n"} {
		if docs, errs := Parse([]byte(text)); len(docs)+len(errs) > 0 {
			t.Errorf("%q: %v, %v", text, docs, errs)
		}
	}
}

// TestManyDocuments: how much may be in a mapping is counted for each document by itself.
func TestManyDocuments(t *testing.T) {
	docs, errs := Parse([]byte(strings.Repeat("a: 1\nb: [2]\n---\n", maxKeys)))
	if len(docs) != maxKeys || len(errs) > 0 {
		t.Errorf("%d documents, %v", len(docs), errs)
	}
	many := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("k%d:\n-\n", i)
		}
		return text
	}
	if _, errs := Parse([]byte("a: 1\n---\n" + many(maxKeys+1))); len(errs) != 1 {
		t.Errorf("of too many fields in a second document: %v", errs)
	}
}

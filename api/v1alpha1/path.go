package v1alpha1

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nfchain.dev/nfchain/api/v1alpha1/internal/tree"
)

// steps cuts a path such as chain.functions[0].firewall into the keys and items
// that lead along it; an item keeps its bracket.
func steps(path string) []string {
	return strings.Split(strings.ReplaceAll(path, "[", ".["), ".")
}

// put returns the tree with v in the place that the steps lead to, and that place with
// items by their index. Of the given tree nothing is changed. An item is [0] or [name];
// keys that are not there are made, for the decoder knows whether they may be.
func put(n *tree.Node, at string, way []string, v *tree.Node) (*tree.Node, string, error) {
	if len(way) == 0 {
		return v, at, nil
	}
	if name, is := strings.CutPrefix(way[0], "["); is {
		return putItem(n, at, strings.TrimSuffix(name, "]"), way[1:], v)
	}
	out := tree.Node{Kind: tree.Map}
	if n != nil && n.Kind != tree.Null {
		if n.Kind != tree.Map {
			return nil, "", fmt.Errorf("%s is %s, which has no %s", at, n.Kind, way[0])
		}
		out = *n
	}
	i := slices.IndexFunc(out.Entries, func(e tree.Entry) bool { return e.Key == way[0] })
	var old *tree.Node
	if i >= 0 {
		old = out.Entries[i].Value
	}
	under, place, err := put(old, joinPath(at, way[0]), way[1:], v)
	if err != nil {
		return nil, "", err
	}
	out.Entries = slices.Clone(out.Entries)
	if i < 0 {
		out.Entries = append(out.Entries, tree.Entry{Key: way[0], Value: under})
	} else {
		out.Entries[i].Value = under
	}
	return &out, place, nil
}

func putItem(n *tree.Node, at, name string, way []string, v *tree.Node) (*tree.Node, string, error) {
	if n == nil || n.Kind != tree.List {
		return nil, "", fmt.Errorf("%s has no items, and so none called %q", at, name)
	}
	i, err := strconv.Atoi(name)
	if err != nil {
		i = slices.IndexFunc(n.Items, func(item *tree.Node) bool { return nameIn(item) == name })
	}
	if i < 0 || i >= len(n.Items) {
		return nil, "", fmt.Errorf("%s has no item %q; there are %d", at, name, len(n.Items))
	}
	under, place, err := put(n.Items[i], item(at, i), way, v)
	if err != nil {
		return nil, "", err
	}
	out := *n
	out.Items = slices.Clone(n.Items)
	out.Items[i] = under
	return &out, place, nil
}

// nameIn a mapping, empty where it has none.
func nameIn(n *tree.Node) string {
	for _, e := range n.Entries {
		if e.Key == "name" {
			return e.Value.Text
		}
	}
	return ""
}

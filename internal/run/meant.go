package run

import (
	"fmt"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/words"
)

// mostNamed is how many right words are told to who wrote a wrong one.
const mostNamed = 20

// Meant is what to say of a wrong word: the right one that is near it, if one is, and behind has, a few words in lower case, those there are.
func Meant(word, has string, known []string) string {
	all := words.Few(known, mostNamed, ", ")
	if near := api.Nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q? %s%s %s", near, strings.ToUpper(has[:1]), has[1:], all)
	}
	return has + " " + all
}

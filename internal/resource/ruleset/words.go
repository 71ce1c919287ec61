package ruleset

import "strings"

// Words implements resource.Worded: each hook with its policy, and then the rules, as nft(8) writes them whatever the backend.
func (s Spec) Words() []string {
	var lines []string
	for _, hook := range s.hooks() {
		lines = append(lines, strings.TrimSpace(s.nftBase(hook)))
	}
	for _, r := range s.Rules {
		lines = append(lines, strings.Join(r.nft(), " "))
	}
	return lines
}

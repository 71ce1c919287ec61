package results

import (
	"fmt"
	"regexp"
	"time"
)

// NewID names a run by when it started, in UTC, and a few random characters:
// 20261121-035352-k3f9. Ids sort by time; the 20 random bits keep runs of the
// same second apart.
func NewID(now time.Time, random [4]byte) string {
	const alphabet = "0123456789abcdefghjkmnpqrstvwxyz" // Crockford's: no i, l, o, u
	var tail [4]byte
	for i, b := range random {
		tail[i] = alphabet[b%32]
	}
	return now.UTC().Format("20060102-150405-") + string(tail[:])
}

// idForm is what an id may look like, so that it is safe as a file name, as an
// argument and on a terminal.
var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

func checkID(id string) error {
	if !idForm.MatchString(id) || id == Last {
		return fmt.Errorf("%.120q is not a run id; ids look like 20261121-035352-k3f9", id)
	}
	return nil
}

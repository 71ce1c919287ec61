package traffic

import (
	"fmt"
	"os"
)

// Self is a command line that runs this binary again, as one of its hidden commands.
func Self(args ...string) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program to run it again: %w", err)
	}
	return append([]string{self}, args...), nil
}

package bridge

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"nfchain.dev/nfchain/internal/resource"
)

// filters are the settings of a namespace by which the packet filter is given what
// bridges pass on. A kernel without br_netfilter has none; one with it has them on.
const filters = "/proc/sys/net/bridge/bridge-nf-call-*tables"

// filtered tells whether any is on.
func filtered(p resource.Place) (on bool, err error) {
	err = p.Do(func() error {
		return eachFilter(func(file string) error {
			text, err := os.ReadFile(file)
			on = on || strings.TrimSpace(string(text)) != "0"
			return err
		})
	})
	return on, err
}

// unfilter turns all of them off.
func unfilter(p resource.Place) error {
	return p.Do(func() error {
		return eachFilter(func(file string) error { return os.WriteFile(file, []byte("0"), 0) })
	})
}

func eachFilter(do func(file string) error) error {
	files, err := filepath.Glob(filters)
	for _, file := range files {
		if e := do(file); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

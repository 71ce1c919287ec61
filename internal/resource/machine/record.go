package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// record is what a setting was.
type record struct {
	Key string `json:"key"`
	// Was is the value of each file.
	Was map[string]string `json:"was"`
}

func (r record) files() []string { return slices.Sorted(maps.Keys(r.Was)) }

func (r record) current() string { return together(r.files()) }

const recordPrefix = "machine-"

func recordPath(owner, key string) string { return filepath.Join(records, owner, recordPrefix+key) }

// describe what a setting is now.
func describe(s Spec, files []string) (record, error) {
	r := record{Key: s.Key(), Was: map[string]string{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return r, fmt.Errorf("tuning.%s: it cannot be read, so it cannot be put back: %w", s.Setting, err)
		}
		r.Was[file] = strings.TrimSpace(string(text))
	}
	return r, nil
}

// save writes a record to disk, whole or not at all.
func save(owner string, r record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return rundir.Keep(recordPath(owner, r.Key), text, 0o600)
}

func load(owner, key string) (r record, err error) {
	text, err := os.ReadFile(recordPath(owner, key))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// recordsOf an owner.
func recordsOf(owner string) ([]record, error) {
	paths, err := filepath.Glob(recordPath(owner, "*"))
	if err != nil {
		return nil, err
	}
	var all []record
	for _, path := range paths {
		r, err := load(owner, strings.TrimPrefix(filepath.Base(path), recordPrefix))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, r)
	}
	return all, nil
}

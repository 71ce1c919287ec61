package pktgen

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/words"
)

// control is pktgen in a namespace, by its files.
type control struct{ ref, dir string }

// master starts and resets all threads of pktgen in a namespace.
const master = "pgctrl"

// write commands to a file, each by itself, as pktgen reads them.
func (c control) write(file string, commands ...string) error {
	return netns.Do(c.ref, func() error {
		for _, command := range commands {
			if err := c.command(file, command); err != nil {
				return fmt.Errorf("pktgen refuses %q for %s: %w%s", command, file, err, c.said(file))
			}
		}
		return nil
	})
}

// command is appended, which is the same to the kernel.
func (c control) command(name, text string) error {
	file, err := os.OpenFile(filepath.Join(c.dir, name), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text + "\n")
	if e := file.Close(); err == nil {
		err = e
	}
	return err
}

// said is pktgen's own word on what it refused, for an error.
func (c control) said(file string) string {
	text, err := os.ReadFile(filepath.Join(c.dir, file))
	if err != nil {
		return ""
	}
	_, result, found := strings.Cut(string(text), "Result: ")
	if !found || strings.HasPrefix(result, "OK") {
		return ""
	}
	return fmt.Sprintf(" (%s)", words.Excerpt([]byte(strings.TrimSpace(result))))
}

// prepare has a core's thread ready to send frames, and nothing else.
func (c control) prepare(core int, f frames) error {
	if err := c.write(master, "reset"); err != nil {
		return err
	}
	if err := c.write("kpktgend_"+strconv.Itoa(core), "add_device "+f.device); err != nil {
		return err
	}
	return c.write(f.device, f.commands()...)
}

// start is the command line of a process that has the threads send until it is
// interrupted: the write ends when they do, and they end when a signal ends it, even
// one that kills.
func (c control) start() []string {
	return []string{"sh", "-c", `trap "exit 0" INT; echo start >> "$0"`, filepath.Join(c.dir, master)}
}

// outcome is what pktgen sent.
type outcome struct {
	// Seconds it took.
	seconds float64
	// Sent frames, with those that the device dropped.
	sent uint64
	// Text of the device's file.
	text string
}

// resultWithin is how long pktgen may take to end; its threads look after a tenth of a
// second.
const resultWithin = 5 * time.Second

// result waits until pktgen has ended.
func (c control) result(ctx context.Context, device string) (o outcome, err error) {
	for deadline := time.Now().Add(resultWithin); ; {
		var text []byte
		err := netns.Do(c.ref, func() (err error) { text, err = os.ReadFile(filepath.Join(c.dir, device)); return err })
		if err != nil {
			return o, fmt.Errorf("read what pktgen sent: %w", err)
		}
		if o, ended, err := parse(string(text)); ended {
			return o, err
		}
		if time.Now().After(deadline) {
			return o, fmt.Errorf("pktgen gave no result within %v: %q", resultWithin, words.Excerpt(text))
		}
		select {
		case <-ctx.Done():
			return o, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

var ended = regexp.MustCompile(`Result: OK: (\d+)\(c\d+\+d\d+\) usec, (\d+) \(\d+byte,\d+frags\)\s+\d+pps \d+Mb/sec \(\d+bps\) errors: (\d+)`)

// parse the file of a device, and tell whether it has a result.
func parse(text string) (o outcome, has bool, err error) {
	m := ended.FindStringSubmatch(text)
	if m == nil {
		return o, false, nil
	}
	var n [3]uint64
	for i := range n {
		if n[i], err = strconv.ParseUint(m[i+1], 10, 64); err != nil {
			return o, true, fmt.Errorf("pktgen's result: %w", err)
		}
	}
	if n[0] == 0 || n[1] == 0 {
		return o, true, fmt.Errorf("pktgen sent nothing: %q", m[0])
	}
	return outcome{seconds: float64(n[0]) / 1e6, sent: n[1] + n[2], text: text}, true, nil
}

package supervise_test

import (
	"os"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
)

// TestTrimsLogs of programs that begin to talk after they were silent, and of those that talk and end.
func TestTrimsLogs(t *testing.T) {
	const talks = "head -c 40000000 /dev/zero; touch $DONE; "
	for name, script := range map[string]string{"late": "sleep 3; " + talks + "exec sleep 1000", "and ends": talks} {
		t.Run(name, func(t *testing.T) {
			c := newChain(t, "a")
			s, done := c.spec("a", script), t.TempDir()+"/done"
			s.Env, s.Restart = []string{"DONE=" + done}, "never"
			c.up(s)
			for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
				_, err := os.Stat(done)
				log, err2 := os.Stat(deploy.LogFile(c.owner, "a"))
				if err == nil && err2 == nil && log.Size() <= 16<<20 {
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("done %v, log %+v %v", err, log, err2)
				}
			}
		})
	}
}

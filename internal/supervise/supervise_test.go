package supervise_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/route"
	"nfchain.dev/nfchain/internal/supervise"
)

var itoa = strconv.Itoa

func TestReadyByTime(t *testing.T) {
	c := newChain(t, "a")
	began := time.Now()
	if n := c.up(c.spec("a", "echo hello; exec sleep 1000")); n != 1 {
		t.Errorf("%d changes", n)
	}
	s := c.ready("a")
	if ran := time.Since(began); ran < time.Second || s.PID == 0 || s.Restarts != 0 {
		t.Errorf("ready after %v: %+v", ran, s)
	}
	c.says("a", "hello\n")
	if n := c.up(c.spec("a", "echo hello; exec sleep 1000")); n != 0 {
		t.Errorf("the same again: %d changes", n)
	}
}

func TestReadyByPort(t *testing.T) {
	nstest.Require(t, "tool.iperf3")
	c := newChain(t, "a")
	s := c.spec("a", "sleep 0.5; exec iperf3 -s -p 7777")
	s.Ready.TCPPort = 7777
	began := time.Now()
	c.up(s)
	c.ready("a")
	if took := time.Since(began); took < 500*time.Millisecond {
		t.Errorf("ready after %v", took)
	}
}

func TestReadyByCommand(t *testing.T) {
	c := newChain(t, "a")
	file := t.TempDir() + "/ready"
	s := c.spec("a", "sleep 0.3; touch $FILE; exec sleep 1000")
	s.Env = []string{"FILE=" + file}
	s.Ready.Command = []string{"sh", "-c", "sleep 1000 & test -e $FILE"}
	c.up(s)
	c.ready("a")
	c.living(1)
}

// TestNotReadyBeforeItBegins: a command that is content with anything does not call ready
// what is still on its way into its namespace.
func TestNotReadyBeforeItBegins(t *testing.T) {
	c := newChain(t, "a")
	file := t.TempDir() + "/go"
	s := c.spec("a", "exec sleep 1000")
	s.Env = []string{holdsUntil + file}
	s.Ready = process.Ready{Command: []string{"true"}, TimeoutS: 0.2}
	c.up(s)
	late := c.until("a", "late or ready", func(s process.Status) bool { return s.Late || s.State == process.Running })
	if late.State != process.Starting || !strings.Contains(late.Message, "has not begun") {
		t.Errorf("before it begins: %+v", late)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.ready("a")
	c.living(1)
}

func TestNeverReady(t *testing.T) {
	c := newChain(t, "port", "command")
	port, command := c.spec("port", "exec sleep 1000"), c.spec("command", "exec sleep 1000")
	port.Ready, command.Ready = process.Ready{TCPPort: 7777, TimeoutS: 0.2}, process.Ready{Command: []string{"false"}, TimeoutS: 0.2}
	c.up(port, command)
	for node, want := range map[string]string{"port": "nothing listens on TCP port 7777", "command": "exit status 1"} {
		s := c.until(node, "late as "+want, func(s process.Status) bool { return s.Late && strings.Contains(s.Message, want) })
		if s.State != process.Starting || !strings.Contains(s.Message, "is not ready after 200ms") {
			t.Errorf("%s: %+v", node, s)
		}
	}
}

func TestRestart(t *testing.T) {
	for _, c := range []struct {
		restart, script, state, message string
	}{
		{"always", "exit 0", process.Waiting, "ended with exit code 0"},
		{"always", "exit 3", process.Waiting, "ended with exit code 3"},
		{"on-failure", "exit 3", process.Waiting, "ended with exit code 3"},
		{"on-failure", "exit 0", process.Ended, "ended with exit code 0"},
		{"never", "exit 3", process.Ended, "ended with exit code 3"},
		{"always", "kill -9 $$", process.Waiting, "ended by signal: killed"},
	} {
		t.Run(c.restart+" "+c.script, func(t *testing.T) {
			ch := newChain(t, "a")
			s := ch.spec("a", "echo began; "+c.script)
			s.Restart = c.restart
			began := time.Now()
			ch.up(s)
			if c.state == process.Ended {
				got := ch.until("a", "ended", func(s process.Status) bool { return s.State == process.Ended })
				time.Sleep(300 * time.Millisecond)
				if got.Message != c.message || got.Restarts != 0 || got.PID != 0 || ch.log("a") != "began\n" {
					t.Errorf("%+v, log %q", got, ch.log("a"))
				}
				return
			}
			got := ch.until("a", "waiting", func(s process.Status) bool { return s.State == process.Waiting && s.Failures >= 3 })
			// Pauses of 0.1 and 0.2 s.
			if took := time.Since(began); got.Message != c.message || took < 300*time.Millisecond {
				t.Errorf("%+v after %v", got, took)
			}
		})
	}
}

func TestNoSuchProgram(t *testing.T) {
	c := newChain(t, "a")
	s := c.spec("a", "")
	s.Args = []string{"no-such-program"}
	c.up(s)
	c.until("a", "failing", func(s process.Status) bool { return s.Failures > 0 })
	if !strings.Contains(c.log("a"), "no-such-program") {
		t.Errorf("log %q", c.log("a"))
	}
}

// TestLimits checks what the program is run with.
func TestLimits(t *testing.T) {
	c := newChain(t, "a")
	s := c.spec("a", "echo $GREETING; pwd; grep Cpus_allowed_list /proc/self/status | cut -f2; ulimit -v; ls /sys/class/net; exec sleep 1000")
	s.Env, s.Dir, s.CPUs, s.MemoryBytes = []string{"GREETING=hello world"}, "/usr", "0", 256<<20
	c.up(s)
	c.ready("a")
	c.says("a", "hello world\n/usr\n0\n262144\nlo\n")
}

// TestReplace checks that an edited program replaces the old one with everything
// that it started, and that only it is touched.
func TestReplace(t *testing.T) {
	c := newChain(t, "a", "b")
	b := c.spec("b", "exec sleep 1000")
	c.up(c.spec("a", "setsid sleep 1001 & sleep 1002 & trap '' TERM; exec sleep 1003"), b)
	c.ready("a")
	before := c.ready("b")
	c.living(4)
	if n := c.up(c.spec("a", "exec sleep 1004"), b); n != 1 {
		t.Errorf("%d changes", n)
	}
	c.ready("a")
	if after := c.ready("b"); after.PID != before.PID {
		t.Error("b was started again")
	}
	c.living(2)
	// The last one takes the supervisor with it, whatever the order of changes.
	if n := c.up(c.spec("b", "exec sleep 1005")); n != 2 {
		t.Errorf("%d changes", n)
	}
	c.ready("b")
	c.up()
	c.supervisorGone()
	c.noneLeft()
}

// TestRename: what is new is started although nothing of the old stays.
func TestRename(t *testing.T) {
	c := newChain(t, "a", "b")
	c.up(c.spec("a", "exec sleep 1000"))
	c.up(c.spec("b", "exec sleep 1000"))
	c.ready("b")
	c.living(1)
}

// TestLeftovers: a program that ends takes along what it started before it is
// started again.
func TestLeftovers(t *testing.T) {
	c := newChain(t, "a")
	c.up(c.spec("a", "setsid sleep 1000 & sleep 0.05"))
	c.until("a", "restarted", func(s process.Status) bool { return s.Restarts >= 3 })
	for deadline := time.Now().Add(time.Minute); len(c.alive()) > 3; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("processes %v", c.alive())
		}
	}
}

// TestSupervisorKilled: the next up takes the running program over.
func TestSupervisorKilled(t *testing.T) {
	c := newChain(t, "a", "b", "c")
	specs := []process.Spec{c.spec("a", "setsid sleep 1001 & exec sleep 1000"), c.spec("b", "exec sleep 1000")}
	c.up(append(specs, c.spec("c", "exec sleep 1000"))...)
	a, b := c.ready("a"), c.ready("b")
	c.killSupervisor()
	if s, err := process.Statuses(c.owner); err != nil || len(s) != 0 {
		t.Errorf("without a supervisor: %v, %v", s, err)
	}
	specs[1].Env = []string{"EDITED=1"}
	for i, takenOver := range []bool{true, false} {
		if c.takesOver(specs[i]) != takenOver {
			t.Errorf("%s is told to be taken over: %t", specs[i].Node, !takenOver)
		}
	}
	// c's program is no longer wanted.
	if n := c.up(specs...); n != 3 {
		t.Errorf("%d changes", n)
	}
	if after := c.ready("a"); after.PID != a.PID || after.Restarts != 0 {
		t.Errorf("a was not taken over: %+v, was process %d", after, a.PID)
	}
	if after := c.ready("b"); after.PID == b.PID {
		t.Errorf("b was edited and not replaced: %+v", after)
	}
	c.living(3)
	// What was taken over is started again when it ends.
	if err := syscall.Kill(a.PID, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	again := c.until("a", "started again", func(s process.Status) bool { return s.PID != 0 && s.PID != a.PID })
	if again.Restarts != 1 {
		t.Errorf("%+v", again)
	}
}

// TestElderIsRelieved: a supervisor of another version ends, and what it kept running goes on with the next one; one of this
// version stays.
func TestElderIsRelieved(t *testing.T) {
	c := newChain(t, "a")
	spec := c.spec("a", "exec sleep 1000")
	c.up(spec)
	a := c.ready("a")
	if relieved, err := process.Relieve(c.owner); err != nil || relieved || c.supervisor() == 0 {
		t.Fatalf("process %d supervises, relieved %v, error %v", c.supervisor(), relieved, err)
	}
	c.killSupervisor()
	startElder(t, c.owner)
	if relieved, err := process.Relieve(c.owner); err != nil || !relieved || supervisorOf(c.owner) != 0 {
		t.Errorf("process %d supervises, relieved %v, error %v", supervisorOf(c.owner), relieved, err)
	}
	c.up(spec)
	if after := c.ready("a"); after.PID != a.PID {
		t.Errorf("its program was not taken over: %+v, was process %d", after, a.PID)
	}
}

// startElder has a supervisor of another version be a chain's, and gives its process.
func startElder(t *testing.T, owner string) int {
	t.Helper()
	elder := exec.Command("/proc/self/exe", "elder", owner)
	if err := elder.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = elder.Process.Kill()
		_ = elder.Wait()
	})
	for deadline := time.Now().Add(time.Minute); supervisorOf(owner) != elder.Process.Pid; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not begin")
		}
	}
	return elder.Process.Pid
}

// TestElderStaysWhileNothingIsMade: an `up` that fails before it comes to programs leaves a supervisor of another version be, and
// one that fails after that leaves the chain watched, and its programs kept running, by another.
func TestElderStaysWhileNothingIsMade(t *testing.T) {
	p := newPath(t, spec(first, beside))
	p.well("a")
	killSupervisorOf(t, p.owner)
	elder := startElder(t, p.owner)
	broken := *p.Plan
	broken.Resources = append(slices.Clone(p.Resources), resource.New(p.node("a").Namespace, route.Spec{Device: "nosuch", Destination: netip.MustParsePrefix("198.51.100.0/24")}))
	if _, err := (&deploy.Deployer{}).Up(t.Context(), &broken); err == nil || supervisorOf(p.owner) != elder {
		t.Errorf("error %v, and process %d supervises, not %d", err, supervisorOf(p.owner), elder)
	}
	refuse := errors.New("a test's")
	if _, err := (&deploy.Deployer{Made: func() error { return refuse }}).Up(t.Context(), p.Plan); !errors.Is(err, refuse) {
		t.Error(err)
	}
	if now := supervisorOf(p.owner); now == 0 || now == elder {
		t.Errorf("process %d supervises, and %d did", now, elder)
	}
	p.well("a")
	statuses, err := process.Statuses(p.owner)
	if err != nil || len(statuses) != 1 || statuses[0].Node != "bad" {
		t.Errorf("programs %+v, error %v", statuses, err)
	}
}

// TestSupervisorTerminated: a supervisor that is asked to end takes its programs
// along.
func TestSupervisorTerminated(t *testing.T) {
	c := newChain(t, "a")
	c.up(c.spec("a", "setsid sleep 1001 & exec sleep 1000"))
	c.ready("a")
	if err := syscall.Kill(c.supervisor(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.supervisorGone()
	c.noneLeft()
}

func TestStop(t *testing.T) {
	c := newChain(t, "a", "b")
	c.up(c.spec("a", "setsid sleep 1001 & exec sleep 1000"), c.spec("b", "trap '' TERM; while :; do sleep 0.1; done"))
	c.ready("b")
	pid := c.supervisor()
	if err := process.Stop(c.owner); err != nil {
		t.Error(err)
	}
	if n := len(c.alive()); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	if state, _ := os.ReadFile("/proc/" + itoa(pid) + "/cmdline"); len(state) > 0 {
		t.Errorf("the supervisor is left: %q", state)
	}
	if err := process.Stop(c.owner); err != nil {
		t.Error(err)
	}
}

// TestStopEnding waits for a supervisor that another has asked to end, and who was killed then: it does not listen any more, and is
// still there.
func TestStopEnding(t *testing.T) {
	c := newChain(t, "a")
	c.up(c.spec("a", "exec sleep 1000"))
	c.ready("a")
	pid := c.supervisor()
	silent, err := rundir.Dial(process.Address(c.owner)) // which it waits for a while to say something, at its end too
	if err != nil {
		t.Fatal(err)
	}
	c.ready("a")
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.supervisorGone()
	time.AfterFunc(time.Second, func() { _ = silent.Close() })
	if err := process.Stop(c.owner); err != nil {
		t.Error(err)
	}
	if state, _ := os.ReadFile("/proc/" + itoa(pid) + "/cmdline"); len(state) > 0 {
		t.Errorf("the supervisor is left: %q", state)
	}
}

// TestStopHanging kills a supervisor that does not answer.
func TestStopHanging(t *testing.T) {
	c := newChain(t, "a")
	c.up(c.spec("a", "exec sleep 1000"))
	s := c.ready("a")
	pid := c.supervisor()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(2*time.Second, func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // else 20 s
	if err := process.Stop(c.owner); err != nil {
		t.Error(err)
	}
	_ = syscall.Kill(-s.PID, syscall.SIGKILL)
}

func TestSecondSupervisor(t *testing.T) {
	c := newChain(t, "a")
	c.up(c.spec("a", "exec sleep 1000"))
	if err := supervise.Run(context.Background(), config(c.owner)); !errors.As(err, new(*rundir.TakenError)) {
		t.Errorf("error %v", err)
	}
	c.ready("a")
}

// TestRequests sends a supervisor what no client of ours does.
func TestRequests(t *testing.T) {
	c := newChain(t, "a")
	c.up(c.spec("a", "exec sleep 1000"))
	for request, want := range map[string]string{
		"rubbish\n":                              "not a request",
		"":                                       "not a request",
		`{"op":"dance"}`:                         "unknown request",
		`{"op":"set","programs":[{"node":"x"}]}`: "cannot be run",
		`{"op":"remove","nodes":["nobody"]}`:     "",
		`{"op":"` + strings.Repeat("x", 17<<20) + `"}`:                    "not a request",
		`{"op":"status","programs":` + strings.Repeat("[", 100_000) + `}`: "not a request",
	} {
		reply := converse(t, c.owner, request)
		if !strings.Contains(reply.Error, want) || want == "" && reply.Error != "" || len(reply.Programs) != 1 {
			t.Errorf("%.40q: %+v", request, reply)
		}
	}
	// One that says nothing keeps nobody waiting.
	silent, err := rundir.Dial(process.Address(c.owner))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	c.ready("a")
}

func converse(t *testing.T, owner, request string) (reply process.Reply) {
	t.Helper()
	conn, err := rundir.Dial(process.Address(owner))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, request) // it may hang up before it has read all
	_ = conn.CloseWrite()
	if err := json.NewDecoder(conn).Decode(&reply); err != nil && len(request) < 1<<20 {
		t.Errorf("%.40q: %v", request, err)
	} else if err != nil {
		return process.Reply{Error: "not a request", Programs: make([]process.Status, 1)}
	}
	return reply
}

// TestStrangers: other users neither reach the supervisor nor take its place.
func TestStrangers(t *testing.T) {
	c := newChain(t, "a")
	c.up(c.spec("a", "exec sleep 1000"))
	c.ready("a")
	address := process.Address(c.owner)
	if err := asNobody(func() error {
		_, err := rundir.Dial(address)
		return err
	}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a stranger connects: %v", err)
	}
	if err := process.Stop(c.owner); err != nil {
		t.Fatal(err)
	}
	if err := asNobody(func() error {
		_, err := rundir.Listen(address)
		return err
	}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a stranger listens: %v", err)
	}
	c.up(c.spec("a", "exec sleep 1000"))
	c.ready("a")
}

// TestLog keeps what a program writes, its newest, within bounds. One line may be
// lost while the log is cut; the next is not.
func TestLog(t *testing.T) {
	c := newChain(t, "a")
	c.up(c.spec("a", "yes "+strings.Repeat("0123456789", 10)+" | head -c 30000000; while :; do echo the last line; sleep 0.05; done"))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		info, err := os.Stat(deploy.LogFile(c.owner, "a"))
		if err != nil && time.Now().After(deadline) {
			t.Fatal(err)
		}
		if err == nil && strings.HasSuffix(c.log("a"), "the last line\n") && info.Size() < 17<<20 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("log of %d bytes", info.Size())
		}
	}
}

// TestNoPlaceForLog: a program whose log cannot be written is not started, and
// says so.
func TestNoPlaceForLog(t *testing.T) {
	c := newChain(t, "a")
	if err := os.Mkdir(deploy.LogFile(c.owner, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.up(c.spec("a", "exec sleep 1000"))
	s := c.until("a", "failing", func(s process.Status) bool { return s.Failures > 0 })
	if !strings.Contains(s.Message, "could not be started") {
		t.Errorf("%+v", s)
	}
}

package examples

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function/shaper"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
)

// TestVideoPlays: who watches gets a stream that decodes without error and needs less than the limiter lets through;
// the taps have it where it passes, much before the compressor and little behind; and it goes on when
// the compressor was killed.
func TestVideoPlays(t *testing.T) { plays(t, "video-chain.yaml", "http://broadcast/live/film.m3u8") }

// inContainers is the same chain in containers.
const inContainers = "video-chain-containers.yaml"

// TestVideoPlaysInContainers as it does in namespaces.
func TestVideoPlaysInContainers(t *testing.T) {
	nstest.Images(t)
	plays(t, inContainers, "http://broadcast:8080/live/film.m3u8")
}

// plays a film by an example's chain; playlist is where viewers ask for it.
func plays(t *testing.T, name, playlist string) {
	nstest.Root(t)
	nfchain, file := build(t), unique(t, decoded(t)[name])
	path := write(t, file)
	requires(t, nfchain, path)
	installed(t, file)
	v := &video{t, nfchain, file.Chains[0].Metadata.Name, playlist}
	t.Cleanup(func() {
		nfchain.run(t, "down", v.chain)
		gone(t, file)
	})
	nfchain.run(t, "up", path, "--wait")
	limit := rateOf(t, file.Chains[0], "limit")

	bytes, rate := v.watch()
	if rate > limit {
		t.Errorf("the stream has %.0f bit/s, and the limiter lets %.0f through", rate, limit)
	}
	state := v.show()
	stored, compressed, limited := tapped(state, "tap-stored"), tapped(state, "tap-compressed"), tapped(state, "tap-limited")
	if stored < 2*compressed || compressed < bytes || limited < bytes || limited > compressed*3/2 {
		t.Errorf("the taps got %d bytes of what is stored, %d compressed and %d behind the limiter; who watched got %d", stored, compressed, limited, bytes)
	}
	for _, r := range node(state, "fw").Rules {
		if r.Comment == "films" && r.Packets == 0 {
			t.Error("the firewall let no film through")
		}
	}

	end := func(signal syscall.Signal) {
		t.Helper()
		if err := syscall.Kill(node(state, "compress").Program.PID, signal); err != nil {
			t.Fatal(err)
		}
	}
	end(syscall.SIGSTOP) // it sends no more before one sees what the last was
	was := v.newest()
	end(syscall.SIGKILL)
	v.until("the compressor is started again", func() bool {
		p := node(v.show(), "compress").Program
		return p.Restarts > 0 && p.State == "ready"
	})
	if now := v.newest(); now <= was {
		t.Errorf("the compressor is ready, and the newest segment is %d, of the one before it, which sent %d", now, was)
	}
	v.until("the playlist goes on", func() bool { return v.newest() > was+1 })
	if _, rate := v.watch(); rate > limit {
		t.Errorf("the stream has %.0f bit/s after the compressor was killed", rate)
	}
	if restarts := node(v.show(), "broadcast").Program.Restarts; restarts != 0 {
		t.Errorf("the broadcaster was started again %d times", restarts)
	}
}

// video is the chain that is played.
type video struct {
	t       *testing.T
	nfchain program
	chain   string
	// playlist is where viewers ask for the film.
	playlist string
}

// watch three seconds of the stream, which must be without error, and give its bytes and its bit rate.
func (v *video) watch() (bytes uint64, rate float64) {
	v.t.Helper()
	got := filepath.Join(v.t.TempDir(), "got.ts")
	v.silent(v.nfchain.viewer(v.chain, "ffmpeg", "-nostdin", "-v", "error", "-xerror", "-i", v.playlist, "-t", "3", "-c", "copy", got))
	v.silent(exec.Command("ffmpeg", "-nostdin", "-v", "error", "-xerror", "-i", got, "-f", "null", "-"))
	cmd := exec.Command("ffprobe", "-v", "error", "-show_entries", "stream=codec_name:format=duration,size,bit_rate", "-of", "json", got)
	out, err := cmd.Output()
	if err != nil {
		v.t.Fatalf("%s: %v", cmd, err)
	}
	var of struct {
		Streams []struct {
			Codec string `json:"codec_name"`
		}
		Format struct {
			Size    uint64  `json:",string"`
			BitRate float64 `json:"bit_rate,string"`
		}
	}
	if err := json.Unmarshal(out, &of); err != nil || len(of.Streams) != 1 || of.Streams[0].Codec != "h264" || of.Format.Size == 0 {
		v.t.Fatalf("what came is no video of H.264: %v, %s", err, out)
	}
	return of.Format.Size, of.Format.BitRate
}

// silent runs a command that says something only when it finds an error.
func (v *video) silent(cmd *exec.Cmd) {
	v.t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		v.t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

// viewer is a command of who watches.
func (p program) viewer(chain string, args ...string) *exec.Cmd {
	return exec.Command(string(p), append([]string{"exec", chain, "viewers", "--"}, args...)...)
}

var segment = regexp.MustCompile(`(?m)^film(\d+)\.ts$`)

// newest is the number of the last segment that viewers are told of.
func (v *video) newest() (number int) {
	v.t.Helper()
	cmd := v.nfchain.viewer(v.chain, "ffmpeg", "-nostdin", "-v", "error", "-f", "data", "-i", v.playlist, "-map", "0", "-c", "copy", "-f", "data", "-")
	out, err := cmd.Output()
	if err != nil {
		v.t.Fatalf("%s: %v", cmd, err)
	}
	if strings.Contains(string(out), "#EXT-X-ENDLIST") {
		v.t.Errorf("the playlist is over:\n%s", out)
	}
	for _, m := range segment.FindAllStringSubmatch(string(out), -1) {
		number, _ = strconv.Atoi(m[1])
	}
	if number == 0 {
		v.t.Fatalf("no segment in the playlist:\n%s", out)
	}
	return number
}

func (v *video) show() run.State {
	v.t.Helper()
	return v.nfchain.show(v.t, v.chain)
}

// until something is so.
func (v *video) until(what string, is func() bool) {
	v.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			v.t.Fatalf("not so after two minutes: %s\n%s", what, v.nfchain.run(v.t, "show", v.chain))
		}
	}
}

// show has the state of a chain.
func (p program) show(t *testing.T, chain string) (state run.State) {
	t.Helper()
	if err := json.Unmarshal([]byte(p.run(t, "show", chain, "-o", "json")), &state); err != nil {
		t.Fatal(err)
	}
	return state
}

// node of a chain, by name.
func node(state run.State, name string) run.NodeState {
	for _, n := range state.Nodes {
		if n.Name == name {
			return n
		}
	}
	panic(fmt.Sprintf("the chain has no %s", name))
}

// tapped is how much a mirror's tap got.
func tapped(state run.State, mirror string) uint64 {
	for _, i := range node(state, mirror).Interfaces {
		if i.Interface == "tap0" {
			return i.TxBytes
		}
	}
	return 0
}

// rateOf a chain's shaper.
func rateOf(t *testing.T, chain api.Chain, name string) float64 {
	t.Helper()
	for _, fn := range chain.Spec.Functions {
		if o, is := fn.Options.(*shaper.Options); is && fn.Name == name {
			return float64(o.Rate)
		}
	}
	t.Fatalf("no shaper %s", name)
	return 0
}

package run_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/run"
)

// TestOthersWhileImagesCome: a chain on a network of others, which holds all that others may take too until it has that, does not while its image
// comes.
func TestOthersWhileImagesCome(t *testing.T) {
	const enough = 5 * time.Minute
	asked, answer := make(chan struct{}, 8), make(chan struct{})
	at := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("API-Version", "1.41")
		switch is := r.URL.Path; {
		case strings.HasSuffix(is, "/_ping"):
		case strings.HasSuffix(is, "/version"):
			_, _ = fmt.Fprint(w, `{"Version": "1"}`)
		case strings.HasSuffix(is, "/containers/json"), strings.HasSuffix(is, "/networks"):
			_, _ = fmt.Fprint(w, `[]`)
		case strings.HasSuffix(is, "/images/create"):
			asked <- struct{}{}
			select {
			case <-answer:
			case <-r.Context().Done():
			}
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = fmt.Fprint(w, `{"message": "the registry has had enough"}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(w, `{"message": "no such thing"}`)
		}
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	t.Setenv(engine.Variable(engine.Docker), "unix://"+at)
	t.Setenv(engine.ProgramVariable, "/nosuch") // nothing is started

	slow := newBed(t, "wiring: engine\nendpoints: [{name: client, runtime: docker}, {name: server, runtime: docker, container: {image: box}, command: {args: [sleep, inf]}}]\n")
	slow.host.Features = feature.Probe(context.Background(), feature.Host()) // which asks this engine
	t.Cleanup(slow.down)
	done := make(chan error, 1)
	go func() {
		_, _, err := slow.edit(context.Background(), run.UpOptions{})
		done <- err
	}()
	select {
	case <-asked:
	case err := <-done:
		t.Fatal("its image is not fetched: ", err)
	case <-time.After(enough):
		t.Fatal("its image is not fetched")
	}
	quick := newBed(t, "functions: []\n")
	ctx, stop := context.WithTimeout(context.Background(), enough)
	defer stop()
	t.Cleanup(quick.down)
	if _, _, err := quick.edit(ctx, run.UpOptions{}); err != nil {
		t.Errorf("meanwhile another: %v", err)
	}
	close(answer)
	if err := <-done; err == nil || !strings.Contains(err.Error(), "has had enough") {
		t.Errorf("its image: %v", err)
	}
	slow.gone()
}

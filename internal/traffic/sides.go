package traffic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// Greeting is what a server that [Job.Sides] starts says on standard error once it
// can be sent to.
const Greeting = "ready\n"

// Sides runs a trial between two processes of this binary, which one of its hidden
// commands makes: first the server, and once that has said its [Greeting] the client,
// whose end is the trial's. Each is told its settings. What each prints goes into sent and received, and raw into
// the trial.
func (j Job) Sides(ctx context.Context, command string, serve, send, sent, received any) (raw []trial.ToolOutput, err error) {
	if err := j.PortsFree(); err != nil {
		return nil, err
	}
	server, err := j.side(ctx, j.StartServer, command, "server", serve)
	if err != nil {
		return nil, err
	}
	defer server.Kill()
	ready := func() bool { return bytes.Contains(server.Stderr(), []byte(Greeting)) }
	if err := server.Until(ctx, ready, "it does not listen"); err != nil {
		return nil, err
	}
	client, err := j.side(ctx, j.StartClient, command, "client", send)
	if err != nil {
		return nil, err
	}
	defer client.Kill()
	if err := client.Wait(ctx); err != nil {
		return nil, err
	}
	if err := server.Stop(ctx); err != nil {
		return nil, err
	}
	if err := client.report(sent); err != nil {
		return nil, err
	}
	return []trial.ToolOutput{client.Output(), server.Output()}, server.report(received)
}

// Alone runs a trial in one process of this binary, the client of [Job.Sides], where somebody
// else serves.
func (j Job) Alone(ctx context.Context, command string, send, sent any) (raw []trial.ToolOutput, err error) {
	client, err := j.side(ctx, j.StartClient, command, "client", send)
	if err != nil {
		return nil, err
	}
	defer client.Kill()
	if err := client.Wait(ctx); err != nil {
		return nil, err
	}
	return []trial.ToolOutput{client.Output()}, client.report(sent)
}

func (j Job) side(ctx context.Context, start func(context.Context, ...string) (*Process, error), command, name string, settings any) (*Process, error) {
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	return start(ctx, Self(command, name, string(text))...)
}

// report reads what a side counted.
func (p *Process) report(into any) error {
	if err := json.Unmarshal(p.Stdout(), into); err != nil {
		return fmt.Errorf("%s printed no result (%w): %q", p, err, words.Excerpt(p.Stdout()))
	}
	return nil
}

// Side is one process of [Job.Sides]: args are "client" or "server", and the settings.
// What the side gives is printed as JSON; a server gives it when it is interrupted.
func Side[Settings any](command string, args []string, stdout io.Writer, server, client func(Settings) (any, error)) error {
	var s Settings
	if len(args) != 2 {
		return fmt.Errorf("%s needs a side and its settings", command)
	}
	if err := json.Unmarshal([]byte(args[1]), &s); err != nil {
		return fmt.Errorf("settings of %s: %w", command, err)
	}
	be := client
	if args[0] == "server" {
		be = server
	}
	report, err := be(s)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(report)
}

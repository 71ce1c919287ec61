// Package plugin is nfchain as a CNI plugin (CNI 1.1.0): another runtime puts a container into the place that a chain
// has for one, takes it out again, and asks whether all of it is there. It knows what that asks for and what it is
// answered; the chain is brought up as for anybody else.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/run"
)

// The codes of errors that are the plugin's own (CNI 1.1.0, section 5: 100 and above).
const (
	// CodeTaken is that of a place that another container has.
	CodeTaken = 100
	// CodeDiffers is that of a container for which not all is there, or not as it was made.
	CodeDiffers = 101
	// CodeMachine is that of something that this machine lacks.
	CodeMachine = 102
)

// versions of CNI that are spoken.
var versions = version.PluginSupports("0.3.1", "0.4.0", "1.0.0", "1.1.0")

// CommandVariable of the environment says what a runtime asks for.
const CommandVariable = "CNI_COMMAND"

// variables by which it is said.
var variables = []string{CommandVariable, "CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_ARGS", "CNI_PATH", "CNI_NETNS_OVERRIDE"}

// Plugin answers one call.
type Plugin struct {
	// Host gives this machine when it is needed.
	Host func(context.Context) *run.Host
	// Read gives the one chain of a file.
	Read func(path string) (api.Chain, error)
	// Placed is an error with its place in a file, where it is what is wrong there.
	Placed func(err error, files ...string) error
	// Remark is told what goes wrong where that is no error.
	Remark func(format string, args ...any)
}

// Call does what the environment and standard input ask for, and answers on standard output. The error is one that has
// been told there, as CNI has it.
func (p *Plugin) Call(ctx context.Context) *types.Error {
	does := func(do func(context.Context, call) error, strictly bool) func(*skel.CmdArgs) error {
		return func(args *skel.CmdArgs) error {
			for _, name := range variables { // they are this call's, and of no program that is started
				_ = os.Unsetenv(name)
			}
			if os.Geteuid() != 0 {
				return types.NewError(CodeMachine, "nfchain as a CNI plugin must run as root", "")
			}
			c, err := callOf(args, strictly)
			if err == nil {
				err = do(ctx, c)
			}
			return asCNI(err)
		}
	}
	failed := skel.PluginMainFuncsWithError(skel.CNIFuncs{
		Add: does(p.add, true), Del: does(p.del, false), Check: does(p.check, true), GC: does(p.collect, false), Status: does(p.status, true),
	}, versions, "")
	if failed != nil {
		_ = failed.Print()
	}
	return failed
}

// refuse what a configuration asks for.
func refuse(format string, args ...any) error {
	return types.NewError(types.ErrInvalidNetworkConfig, fmt.Sprintf(format, args...), "")
}

// asCNI gives an error its code.
func asCNI(err error) error {
	var coded *types.Error
	var wrong api.Problems
	switch {
	case err == nil:
		return nil
	case errors.As(err, &coded): // what else went wrong is told with it
		return types.NewError(coded.Code, err.Error(), "")
	case errors.Is(err, deploy.ErrLocked):
		return types.NewError(types.ErrTryAgainLater, err.Error(), "")
	case errors.Is(err, netns.ErrHost):
		return types.NewError(types.ErrInvalidNetNS, err.Error(), "")
	case errors.As(err, &wrong), errors.Is(err, run.ErrInput), errors.Is(err, run.ErrUnknown):
		return types.NewError(types.ErrInvalidNetworkConfig, err.Error(), "")
	case feature.NotHere(err):
		return types.NewError(CodeMachine, err.Error(), "")
	}
	return types.NewError(types.ErrInternal, err.Error(), "")
}

package plugin

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// conf is a network's configuration, as far as it is for nfchain.
type conf struct {
	types.PluginConf
	// Chain that containers come to: its name, if it is up, or the absolute path of its file.
	Chain string `json:"chain"`
	// Role is the endpoint or function of the chain whose place a container takes.
	Role string `json:"role"`
	// Interfaces are the names that the chain's have in the container, from west to east. Default: what the runtime
	// calls its interface, and for a function's second the next number.
	Interfaces []string `json:"interfaces"`
}

// own are the keys of a configuration that are nfchain's, and known all that it may have besides.
var (
	own   = []string{"chain", "role", "interfaces"}
	known = []string{"cniVersion", "cniVersions", "name", "type", "capabilities", "ipam", "dns", "args", "runtimeConfig", "prevResult", "disableCheck", "disableGC", "loadOnlyInlinedPlugins", "plugins"}
)

// roleArg is the key by which CNI_ARGS gives a role where the configuration leaves it open.
const roleArg = "NFCHAIN_ROLE"

// call is what a runtime asks for.
type call struct {
	conf
	container, ifname, netns string
}

// callOf has a configuration refused for what is wrong in it, or else only what tells attachments from others read: one that was
// edited since must not keep a container from being taken out.
func callOf(args *skel.CmdArgs, strictly bool) (call, error) {
	if !strictly {
		var least struct {
			Name  string               `json:"name"`
			Valid []types.GCAttachment `json:"cni.dev/valid-attachments"`
		}
		if err := json.Unmarshal(args.StdinData, &least); err != nil {
			return call{}, undecoded(err)
		}
		c := conf{PluginConf: types.PluginConf{Name: least.Name, ValidAttachments: least.Valid}}
		return call{c, args.ContainerID, args.IfName, args.Netns}, nil
	}
	c, err := read(args.StdinData)
	if err != nil {
		return call{}, err
	}
	if c.Role == "" {
		c.Role = argument(args.Args, roleArg)
	}
	return call{c, args.ContainerID, args.IfName, args.Netns}, nil
}

// read a configuration. What nfchain does not know in it may be a runtime's, unless it looks like a key of its own.
func read(text []byte) (conf, error) {
	var c conf
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return c, undecoded(err)
	}
	for key := range keys {
		if slices.Contains(own, key) || slices.Contains(known, key) || strings.HasPrefix(key, "cni.dev/") {
			continue
		}
		if near := api.Nearest(key, own); near != "" {
			return c, refuse("%q: unknown field; did you mean %q?", key, near)
		}
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, undecoded(err)
	}
	if err := version.ParsePrevResult(&c.PluginConf); err != nil {
		return c, types.NewError(types.ErrDecodingFailure, err.Error(), "")
	}
	return c, c.checkInterfaces()
}

func undecoded(err error) error {
	return types.NewError(types.ErrDecodingFailure, "the network's configuration: "+err.Error(), "")
}

func (c conf) checkInterfaces() error {
	for i, name := range c.Interfaces {
		switch why := api.InterfaceProblem(name); {
		case name == "", name == "lo", why != "":
			return refuse("interfaces[%d]: %q is not a name for an interface of a container; write one like eth0", i, name)
		case slices.Contains(c.Interfaces[:i], name):
			return refuse("interfaces[%d]: %s is there already; each interface has a name of its own", i, name)
		}
	}
	return nil
}

// whole refuses a configuration by which no container could be put in.
func (c conf) whole() error {
	switch {
	case c.Chain == "":
		return refuse("chain: is missing; write the name of a chain that is up, or the absolute path of its file")
	case c.file() && !filepath.IsAbs(c.Chain):
		return refuse("chain: %q is no absolute path; nobody knows from where a runtime calls", c.Chain)
	case !c.file() && api.CheckName(c.Chain) != nil:
		return refuse("chain: %v", api.CheckName(c.Chain))
	case !c.IPAM.IsEmpty():
		return refuse("ipam: a chain gives its containers their addresses, from the pool that its file names; leave ipam out")
	}
	return nil
}

// file tells whether the chain is given by its file.
func (c conf) file() bool { return strings.ContainsRune(c.Chain, '/') }

// argument finds a key's value in CNI_ARGS: pairs KEY=VALUE with semicolons between.
func argument(args, key string) string {
	for _, pair := range strings.Split(args, ";") {
		if k, v, is := strings.Cut(pair, "="); is && k == key {
			return v
		}
	}
	return ""
}

// devices are the names of as many interfaces in the container.
func (c call) devices(n int) ([]string, error) {
	names := c.Interfaces
	if len(names) == 0 {
		names = []string{c.ifname}
		if n == 2 {
			names = append(names, next(c.ifname))
		}
	}
	if len(names) != n {
		return nil, refuse("interfaces: %d for %s, which has %d in its chain; name each, from the side of the first endpoint on", len(names), c.Role, n)
	}
	for _, name := range names {
		if why := api.InterfaceProblem(name); why != "" {
			return nil, refuse("%s; name the interfaces by interfaces: [...]", why)
		}
	}
	return names, nil
}

// next is a name with the next number: eth1 after eth0.
func next(name string) string {
	stem := strings.TrimRight(name, "0123456789")
	n, err := strconv.ParseUint(name[len(stem):], 10, 32)
	if err != nil {
		return name + "1"
	}
	return fmt.Sprintf("%s%d", stem, n+1)
}

package plugin

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
	cni "github.com/containernetworking/cni/pkg/types/100"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/resource/route"
)

func TestConfigurations(t *testing.T) {
	for _, c := range []struct {
		text string
		code uint
		says string
	}{
		{`{"name": "n", "chain": "edge", "role": "ids"}`, 0, ""},
		{`{"name": "n", "chain": "/etc/edge.yaml", "someRuntimes": 1, "nerdctlID": "x", "cni.dev/new": {}}`, 0, ""},
		{`{"name": "n"}`, types.ErrInvalidNetworkConfig, "chain: is missing"},
		{`{"name": "n", "chain": "a/b.yaml"}`, types.ErrInvalidNetworkConfig, "no absolute path"},
		{`{"name": "n", "chain": "Edge"}`, types.ErrInvalidNetworkConfig, "chain: "},
		{`{"name": "n", "chain": "edge", "rôle": "x", "roles": ["a"]}`, types.ErrInvalidNetworkConfig, `did you mean "role"?`},
		{`{"name": "n", "chain": "edge", "interfaces": ["eth0", "eth0"]}`, types.ErrInvalidNetworkConfig, "interfaces[1]: eth0 is there already"},
		{`{"name": "n", "chain": "edge", "interfaces": ["lo"]}`, types.ErrInvalidNetworkConfig, "interfaces[0]"},
		{`{"name": "n", "chain": "edge", "interfaces": ["a/b"]}`, types.ErrInvalidNetworkConfig, "interfaces[0]"},
		{`{"name": "n", "chain": "edge", "ipam": {"type": "host-local"}}`, types.ErrInvalidNetworkConfig, "leave ipam out"},
		{`{"name": "n", "chain": 5}`, types.ErrDecodingFailure, "chain"},
		{`{"cniVersion": "1.0.0", "name": "n", "chain": "edge", "prevResult": {"ips": [{"address": 5}]}}`, types.ErrDecodingFailure, "prevResult"},
		{`nothing`, types.ErrDecodingFailure, "configuration"},
	} {
		conf, err := read([]byte(c.text))
		if err == nil {
			err = conf.whole()
		}
		var coded *types.Error
		if c.code == 0 && err != nil || c.code != 0 && (!errors.As(err, &coded) || coded.Code != c.code || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// TestTakingOutIsNotRefused: what is wrong in a network's configuration by now keeps no container in.
func TestTakingOutIsNotRefused(t *testing.T) {
	for _, text := range []string{
		`{"name": "n", "chain": "edge", "rolle": "x"}`,
		`{"name": "n", "chain": 5, "interfaces": ["lo", "lo"], "ipam": 5}`,
		`{"cniVersion": "1.0.0", "name": "n", "prevResult": {"ips": [{"address": 5}]}}`,
	} {
		args := &skel.CmdArgs{StdinData: []byte(text), ContainerID: "a", IfName: "eth0"}
		if _, err := callOf(args, true); err == nil {
			t.Errorf("%s puts a container in", text)
		}
		if c, err := callOf(args, false); err != nil || c.Name != "n" || c.container != "a" || c.ifname != "eth0" {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
	args := &skel.CmdArgs{StdinData: []byte(`{"name": "n", "cni.dev/valid-attachments": [{"containerID": "a", "ifname": "eth0"}]}`)}
	if c, err := callOf(args, false); err != nil || len(c.ValidAttachments) != 1 || c.ValidAttachments[0].ContainerID != "a" {
		t.Errorf("%+v, %v", c, err)
	}
	args.StdinData = []byte(`{"name": "n", "cni.dev/valid-attachments": "all"}`)
	if _, err := callOf(args, false); err == nil {
		t.Error("who still has a container is not read, and taken for nobody")
	}
}

// TestCodeOfSeveral: of several errors none is left out, and they have the code of one.
func TestCodeOfSeveral(t *testing.T) {
	for _, c := range []struct {
		err  error
		code uint
	}{
		{errors.Join(nil, refuse("one")), types.ErrInvalidNetworkConfig},
		{errors.Join(errors.New("one"), deploy.ErrLocked), types.ErrTryAgainLater},
		{errors.Join(refuse("one"), errors.New("two")), types.ErrInvalidNetworkConfig},
		{errors.New("one"), types.ErrInternal},
	} {
		var coded *types.Error
		if !errors.As(asCNI(c.err), &coded) || coded.Code != c.code || coded.Msg != c.err.Error() {
			t.Errorf("%v: %v", c.err, coded)
		}
	}
	if asCNI(errors.Join(nil, nil)) != nil {
		t.Error("nothing has a code")
	}
}

func TestRoleOfArguments(t *testing.T) {
	for args, want := range map[string]string{
		"IgnoreUnknown=1;NFCHAIN_ROLE=ids": "ids", "NFCHAIN_ROLE=a=b": "a=b", "": "", "NFCHAIN_ROLE": "", "XNFCHAIN_ROLE=x;;": "",
	} {
		c, err := callOf(&skel.CmdArgs{StdinData: []byte(`{"name": "n"}`), Args: args}, true)
		if err != nil || c.Role != want {
			t.Errorf("%q: %q, %v", args, c.Role, err)
		}
	}
	// A configuration that says one is not overruled by whoever starts a container.
	c, err := callOf(&skel.CmdArgs{StdinData: []byte(`{"name": "n", "role": "fw"}`), Args: "NFCHAIN_ROLE=ids"}, true)
	if err != nil || c.Role != "fw" {
		t.Errorf("%q, %v", c.Role, err)
	}
}

func TestDevices(t *testing.T) {
	for _, c := range []struct {
		ifname string
		given  []string
		n      int
		want   string
	}{
		{"eth0", nil, 1, "eth0"},
		{"eth0", nil, 2, "eth0 eth1"},
		{"net9", nil, 2, "net9 net10"},
		{"wan", nil, 2, "wan wan1"},
		{"eth0", []string{"chain0"}, 1, "chain0"},
		{"eth0", []string{"west", "east"}, 2, "west east"},
		{"eth0", []string{"west"}, 2, ""},
		{"eth0", []string{"west", "east"}, 1, ""},
		{"abcdefghijklmn9", nil, 2, ""}, // the next is too long
	} {
		names, err := call{conf: conf{Interfaces: c.given}, ifname: c.ifname}.devices(c.n)
		if strings.Join(names, " ") != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: %v, %v", c, names, err)
		}
	}
}

// FuzzRead: whatever a runtime gives, it is refused or has names that interfaces can have.
func FuzzRead(f *testing.F) {
	for _, text := range []string{`{"name":"n","chain":"edge","role":"x","interfaces":["a","b"]}`, `{"cniVersion":"0.3.1","prevResult":{"ips":[{"version":"4","address":"10.0.0.1/8"}]}}`, `{"chain":"/"}`, `[]`, `null`} {
		f.Add([]byte(text), "NFCHAIN_ROLE=a;b=c", "eth0")
	}
	f.Fuzz(func(t *testing.T, text []byte, args, ifname string) {
		c, err := callOf(&skel.CmdArgs{StdinData: text, Args: args, IfName: ifname}, true)
		if err != nil || c.whole() != nil {
			return
		}
		for n := range 3 {
			names, err := c.devices(n)
			if err != nil {
				continue
			}
			for _, name := range names {
				if name == "" && ifname != "" || len(name) > 15 || strings.ContainsAny(name, "/ :") {
					t.Errorf("%q of %q", name, text)
				}
			}
		}
		_ = c.given(&cni.Result{})
	})
}

// TestResult has what a container gets, behind what others gave.
func TestResult(t *testing.T) {
	at := netip.MustParseAddr("198.18.0.3")
	p := &plan.Plan{
		Nodes: []plan.Node{{Name: "client", Namespace: "c", East: &plan.Interface{Device: "chain0", MAC: "02:00:00:00:00:01"}}, {Name: "server"}},
		Resources: []resource.Resource{
			resource.New("c", address.Spec{Device: "chain0", Address: at}),
			resource.New("c", address.Spec{Device: "other", Address: at.Next()}),
			resource.New("c", route.Spec{Destination: netip.MustParsePrefix("198.18.0.16/28"), Via: at.Next(), Device: "chain0"}),
			resource.New("d", address.Spec{Device: "chain0", Address: at.Next()}),
		},
	}
	r := result(p, deploy.Brought{Node: "client", Netns: "/run/netns/x"}, 1400)
	if len(r.Interfaces) != 1 || r.Interfaces[0].Sandbox != "/run/netns/x" || r.Interfaces[0].Mtu != 1400 || len(r.IPs) != 1 || r.IPs[0].Address.String() != "198.18.0.3/32" ||
		len(r.Routes) != 1 || r.Routes[0].Dst.String() != "198.18.0.16/28" || r.Routes[0].GW.String() != "198.18.0.4" {
		t.Errorf("%+v", r)
	}
	before := &cni.Result{CNIVersion: cni.ImplementedSpecVersion, Interfaces: []*cni.Interface{{Name: "veth1"}, {Name: "eth0", Sandbox: "/run/netns/x"}}, IPs: []*cni.IPConfig{{Interface: cni.Int(1)}}}
	all := behind(before, r)
	if len(all.Interfaces) != 3 || len(all.IPs) != 2 || *all.IPs[1].Interface != 2 || *all.IPs[0].Interface != 1 || len(all.Routes) != 1 {
		t.Errorf("%+v", all)
	}
	now := result(p, deploy.Brought{Node: "client", Netns: "/run/netns/x"}, 0)
	told := call{conf: conf{PluginConf: types.PluginConf{PrevResult: all}}}
	if err := told.given(now); err != nil {
		t.Error(err)
	}
	all.IPs = all.IPs[:1]
	if err := told.given(now); err == nil {
		t.Error("an address that the runtime does not know passes")
	}
	if len(result(p, deploy.Brought{Node: "gone"}, 0).Interfaces) > 0 {
		t.Error("a node that is not there has interfaces")
	}
}

// Package cni attaches namespaces to networks by CNI plugins (Container Network Interface, cni.dev), and detaches them.
// What a plugin needs to take away again what it made is written down before it makes it, so that a process killed at
// any moment loses nothing.
package cni

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/utils"

	"nfchain.dev/nfchain/internal/resource"
)

// KindName of attachments in a plan.
const KindName = "cni"

// Spec of an interface that plugins make in a namespace.
type Spec struct {
	// Namespace that it is in, by its name, and Device is what it is called there.
	Namespace string `json:"namespace"`
	Device    string `json:"device"`
	// Network is the text of its configuration, as files below /etc/cni/net.d have it.
	Network string `json:"network"`
	// Plugins are the directories in which plugins are looked for, in this order.
	Plugins []string `json:"plugins"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the interface.
func (s Spec) Key() string { return s.Device }

// Fingerprint is the name of the network and a digest of its configuration, and where the plugins are.
func (s Spec) Fingerprint() string {
	name := ""
	if list, err := Network(s.Network); err == nil {
		name = list.Name + " "
	}
	return name + Digest(s.Network) + fmt.Sprintf(" %q", s.Plugins)
}

// Commands implements resource.Spec: the script has nfchain attach it, which keeps what the plugins need to detach it.
func (Spec) Commands(string) []resource.Command { return nil }

// Digest of a network's configuration, which tells it from others.
func Digest(network string) string {
	sum := sha256.Sum256([]byte(network))
	return hex.EncodeToString(sum[:8])
}

// Network reads a configuration: a list of plugins, or one plugin's, as they were before there were lists.
func Network(text string) (*libcni.NetworkConfigList, error) {
	var one struct {
		Version string `json:"cniVersion"`
		Name    string `json:"name"`
		Type    string `json:"type"`
	}
	if err := json.Unmarshal([]byte(text), &one); err != nil {
		return nil, fmt.Errorf("is not JSON: %w", err)
	}
	if one.Type != "" {
		text = fmt.Sprintf(`{"cniVersion": %q, "name": %q, "plugins": [%s]}`, one.Version, one.Name, text)
	}
	list, err := libcni.NetworkConfFromBytes([]byte(text))
	switch {
	case err != nil:
		return nil, err
	case len(list.Plugins) == 0:
		return nil, errors.New("names no plugin; write plugins: a list of them, each with its type")
	}
	if err := utils.ValidateNetworkName(list.Name); err != nil {
		return nil, fmt.Errorf("the name of the network: %w", err)
	}
	for i, p := range list.Plugins {
		if p.Network.Type == "" {
			return nil, fmt.Errorf("plugins[%d] has no type, by which its program is found", i)
		}
	}
	return list, nil
}

// Types of a network's plugins, in the order in which they act.
func Types(list *libcni.NetworkConfigList) (types []string) {
	for _, p := range list.Plugins {
		types = append(types, p.Network.Type)
	}
	return types
}

// Possible implements resource.Wary: every plugin is there, and knows the configuration's version.
func (Kind) Possible(specs []resource.Spec) error {
	var asked []string
	for _, s := range specs {
		spec := s.(Spec)
		if slices.Contains(asked, spec.Fingerprint()) {
			continue
		}
		asked = append(asked, spec.Fingerprint())
		if err := spec.possible(); err != nil {
			return err
		}
	}
	return nil
}

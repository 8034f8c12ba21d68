// Which version of the program this is, and with what it was built.

package main

import (
	"runtime"
	"runtime/debug"
	"slices"
)

// version is set by make and by goreleaser.
var version string

// built is the version of this program; of one that 'go install' made, that of its module.
func built() string {
	if info, ok := debug.ReadBuildInfo(); ok && version == "" {
		return info.Main.Version
	}
	return version
}

// numericModules are the modules that compute numbers.
var numericModules = []string{"github.com/gomlx/gomlx", "github.com/gomlx/compute", "github.com/gomlx/go-xla", "gonum.org/v1/gonum"}

// environment is written beside every stored entry and never compared.
func environment() map[string]string {
	env := map[string]string{"entrorouter": built(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, path := range numericModules {
			if i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == path }); i >= 0 {
				env[path] = info.Deps[i].Version
			}
		}
	}
	return env
}

// What tests in other packages' company see of this one.

package policy

const (
	ConfigFile  = configFile
	WeightsFile = weightsFile
)

var Digest = digest

package preflight

const (
	RunMemory    = runMemory
	WeightCopies = weightCopies
)

var Long = long

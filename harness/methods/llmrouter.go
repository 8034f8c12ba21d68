package methods

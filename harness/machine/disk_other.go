//go:build !linux && !darwin && !windows

// Systems whose free disk is not read.

package machine

import "errors"

func free(string) (int64, error) { return 0, errors.ErrUnsupported }

// What Windows tells of disks.

package machine

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// disk is what the user may still write beside a folder.
func disk(folder string) int64 {
	at, err := filepath.Abs(folder)
	if err != nil {
		return 0
	}
	for {
		var left uint64
		if name, err := windows.UTF16PtrFromString(at); err == nil && windows.GetDiskFreeSpaceEx(name, &left, nil, nil) == nil {
			return int64(left)
		}
		if at == filepath.Dir(at) {
			return 0
		}
		at = filepath.Dir(at)
	}
}

// What Windows tells of disks.

package machine

import "golang.org/x/sys/windows"

// free is what the user may still write where a folder is.
func free(folder string) (int64, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, err
	}
	var left uint64
	err = windows.GetDiskFreeSpaceEx(name, &left, nil, nil)
	return int64(left), err
}

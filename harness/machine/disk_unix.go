//go:build linux || darwin

// What Unix tells of disks.

package machine

import "syscall"

// free is what an ordinary user may still write where a folder is.
func free(folder string) (int64, error) {
	var s syscall.Statfs_t
	err := syscall.Statfs(folder, &s)
	return int64(s.Bavail) * int64(s.Bsize), err
}

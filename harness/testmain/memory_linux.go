// Where Linux has a folder in memory, and who uses one of ours.

package testmain

import (
	"os"
	"regexp"
	"strconv"
	"syscall"
)

const (
	shm   = "/dev/shm"
	tmpfs = 0x01021994
	room  = 2 << 30 // bytes; the tests of a package take up to 300 MB

	noExec = 8 // of its flags: programs that tests put there would not start, as in many containers
)

// inMemory is a folder in memory with room, or "".
func inMemory() string {
	var disk syscall.Statfs_t
	if syscall.Statfs(shm, &disk) != nil || disk.Type != tmpfs || disk.Flags&noExec != 0 || disk.Bavail*uint64(disk.Bsize) < room {
		return ""
	}
	memory, err := os.ReadFile("/proc/meminfo")
	available := availableMemory.FindSubmatch(memory)
	if err != nil || available == nil {
		return ""
	}
	if kB, err := strconv.ParseInt(string(available[1]), 10, 64); err != nil || kB<<10 < 2*room {
		return ""
	}
	return shm
}

var availableMemory = regexp.MustCompile(`(?m)^MemAvailable: +(\d+) kB$`)

// hold keeps others from removing a folder; nil: somebody else does. The kernel lets go of it with the process.
func hold(dir string) *os.File {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		f.Close()
		return nil
	}
	return f
}

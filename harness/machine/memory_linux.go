// What Linux tells of memory.

package machine

import (
	"bufio"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// memory is what the kernel calls available, or less where the process is limited: by its address space, or by control
// groups.
func memory() int64 {
	left := available()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err == nil && int64(limit.Cur) > 0 {
		left = least(left, int64(limit.Cur))
	}
	return least(left, grouped("/proc/self/cgroup", "/sys/fs/cgroup"))
}

// version is how a version of control groups names what it tells of memory; below goes before what memory.stat sums over groups below.
type version struct{ most, used, below string }

// grouped is what is left to the control groups that a process is in, as list has them. Zero: no limit.
func grouped(list, root string) (left int64) {
	groups, _ := os.ReadFile(list)
	for line := range strings.Lines(string(groups)) {
		controllers, group, _ := strings.Cut(strings.TrimSuffix(line[strings.Index(line, ":")+1:], "\n"), ":")
		switch {
		case controllers == "":
			left = least(left, version{"memory.max", "memory.current", ""}.upwards(root, group))
		case slices.Contains(strings.Split(controllers, ","), "memory"):
			left = least(left, version{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_"}.upwards(filepath.Join(root, "memory"), group))
		}
	}
	return left
}

// upwards is the least that is left to a group and to those above it: the limits of a job of Slurm are two above its processes.
func (v version) upwards(root, group string) (left int64) {
	for at := path.Join("/", group); ; at = path.Dir(at) {
		left = least(left, v.left(filepath.Join(root, at)))
		if at == "/" {
			return left
		}
	}
}

// left is what a group may still take. Pages of files, which the kernel gives up, count as free.
func (v version) left(dir string) int64 {
	most, err1 := number(filepath.Join(dir, v.most))
	used, err2 := number(filepath.Join(dir, v.used))
	if err1 != nil || err2 != nil {
		return 0
	}
	stat, _ := os.ReadFile(filepath.Join(dir, "memory.stat"))
	for line := range strings.Lines(string(stat)) {
		if words := strings.Fields(line); len(words) == 2 && (words[0] == v.below+"inactive_file" || words[0] == v.below+"active_file") {
			pages, _ := strconv.ParseInt(words[1], 10, 64)
			used -= pages
		}
	}
	return max(most-max(used, 0), 1)
}

func available() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) == 3 && words[0] == "MemAvailable:" {
			if kib, err := strconv.ParseInt(words[1], 10, 64); err == nil {
				return kib << 10
			}
		}
	}
	return 0
}

// least is the smaller of two amounts, of which zero is not known.
func least(a, b int64) int64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// number reads the number that a file holds; "max" is none.
func number(name string) (int64, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}

// Tests of what control groups leave, on folders laid out as batch systems lay them out.

package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGroupsAboveTheProcessLimitItsMemory(t *testing.T) {
	const unlimited = "9223372036854771712"
	for name, c := range map[string]struct {
		self  string
		files map[string]string
		left  int64
	}{
		"Slurm, version 1: the limit is the step's, the process is in a task": {
			self: "9:name=systemd:/\n8:pids:/\n4:memory:/slurm/uid_1001/job_1/step_0/task_0\n0::/\n",
			files: map[string]string{
				"memory/slurm/uid_1001/job_1/step_0/task_0/memory.limit_in_bytes": unlimited,
				"memory/slurm/uid_1001/job_1/step_0/task_0/memory.usage_in_bytes": "872448",
				"memory/slurm/uid_1001/job_1/step_0/memory.limit_in_bytes":        "943718400",
				"memory/slurm/uid_1001/job_1/step_0/memory.usage_in_bytes":        "1654784",
				"memory/slurm/uid_1001/job_1/memory.limit_in_bytes":               "943718400",
				"memory/slurm/uid_1001/job_1/memory.usage_in_bytes":               "1957888",
			},
			left: 943718400 - 1957888,
		},
		"Slurm, version 2": {
			self: "0::/system.slice/slurmstepd.scope/job_7/step_batch/user/task_0\n",
			files: map[string]string{
				"system.slice/slurmstepd.scope/job_7/step_batch/user/task_0/memory.max":     "max",
				"system.slice/slurmstepd.scope/job_7/step_batch/user/task_0/memory.current": "1000",
				"system.slice/slurmstepd.scope/job_7/memory.max":                            "8000000",
				"system.slice/slurmstepd.scope/job_7/memory.current":                        "3000000",
				"system.slice/memory.max":                                                   "9000000000",
				"system.slice/memory.current":                                               "5000000",
			},
			left: 5000000,
		},
		"files that the kernel keeps are given up, version 2": {
			self:  "0::/job\n",
			files: map[string]string{"job/memory.max": "8000", "job/memory.current": "7900", "job/memory.stat": "anon 900\ninactive_file 4000\nactive_file 3000\nworkingset_refault_file 5\n"},
			left:  7100,
		},
		"and version 1, with those of the groups below": {
			self:  "3:cpu,memory:/job\n",
			files: map[string]string{"memory/job/memory.limit_in_bytes": "8000", "memory/job/memory.usage_in_bytes": "7900", "memory/job/memory.stat": "inactive_file 1\nactive_file 1\ntotal_inactive_file 4000\ntotal_active_file 3000\n"},
			left:  7100,
		},
		"more in use than the limit":               {self: "0::/job\n", files: map[string]string{"job/memory.max": "8000", "job/memory.current": "9000"}, left: 1},
		"a container that shows its group as root": {self: "4:memory:/docker/1f2e\n", files: map[string]string{"memory/memory.limit_in_bytes": "8000", "memory/memory.usage_in_bytes": "1000"}, left: 7000},
		"no limit":  {self: "0::/job\n", files: map[string]string{"job/memory.max": "max", "job/memory.current": "1000"}},
		"no groups": {files: map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			c.files["self"] = c.self
			for path, text := range c.files {
				at := filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(strings.TrimSuffix(text, "\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if left := grouped(filepath.Join(root, "self"), root); left != c.left {
				t.Errorf("%d bytes are left, want %d", left, c.left)
			}
		})
	}
}

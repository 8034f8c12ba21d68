package formula

import "testing"

func TestCommandsGetTheirBackslashBackAndLinesStayLines(t *testing.T) {
	for _, c := range [][2]string{
		{"2\times 3", `2\times 3`}, {"\frac{1}{2}", `\frac{1}{2}`}, {"\boxed{5}", `\boxed{5}`}, {"x\neq 1", `x\neq 1`}, {"3\right)", `3\right)`},
		{"a root\nexists for\teach x", "a root\nexists for\teach x"}, {"no\nabstract", "no\nabstract"}, {"two\r\nlines", "two\r\nlines"}, {"\t", "\t"},
	} {
		if got := Restored(c[0]); got != c[1] {
			t.Errorf("%q becomes %q, want %q", c[0], got, c[1])
		}
	}
}

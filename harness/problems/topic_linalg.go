// Topic linear algebra.

package problems

import "fmt"

func linalg() *topic {
	return &topic{
		id: "linalg",
		settings: []string{
			"This problem is about vectors and matrices.",
			"All matrices have real entries.",
			"The seminar recalls determinants and eigenvalues.",
			"Linear maps and their kernels come up again.",
			"A computer graphics course needs this calculation.",
			"Vectors are written in coordinates with respect to the standard basis.",
			"Rows times columns is the rule to remember.",
			"The notes explain how matrices act on space.",
		},
		links: []link{
			{"determinant", maxValue / 30_000_000, func(d *draft, v int64) (string, int64) {
				a, b, c := d.few(), d.few(), d.size()
				return fmt.Sprintf(d.pick(`the determinant of $\begin{pmatrix} @ & %d \\ -%d & %d \end{pmatrix}$`, `$\det \begin{pmatrix} @ & %d \\ -%d & %d \end{pmatrix}$`), a, b, c), v*c + a*b
			}},
			{"trace of square", 500_000, func(d *draft, v int64) (string, int64) {
				a, b, c := d.few(), d.few(), d.sizeUpTo(500_000)
				return fmt.Sprintf(d.pick(`the trace of the square of the matrix $\begin{pmatrix} @ & %d \\ %d & %d \end{pmatrix}$`, `the sum of the diagonal entries of $\begin{pmatrix} @ & %d \\ %d & %d \end{pmatrix}^2$`), a, b, c), v*v + 2*a*b + c*c
			}},
			{"dot product", maxValue / 50, func(d *draft, v int64) (string, int64) {
				a, b, c, e, f := d.size(), d.few(), d.few(), d.few(), d.size()
				return fmt.Sprintf(d.pick(`the dot product of the vectors $(@, %d, %d)$ and $(%d, %d, %d)$`, `the scalar product $(@, %d, %d) \cdot (%d, %d, %d)$`), a, b, c, e, f), v*c + a*e + b*f
			}},
			{"cross product", maxValue / 50_000_000, func(d *draft, v int64) (string, int64) {
				a, b, c := d.few(), d.few(), d.size()
				return fmt.Sprintf(d.pick(`the last coordinate of the cross product $(@, %d, 0) \times (-%d, %d, 0)$`, `the third component of the vector product of $(@, %d, 0)$ and $(-%d, %d, 0)$`), a, b, c), v*c + a*b
			}},
			{"norm squared", 500_000, func(d *draft, v int64) (string, int64) {
				a, b := d.few(), d.sizeUpTo(500_000)
				return fmt.Sprintf(d.pick(`the square of the Euclidean norm of the vector $(@, %d, %d)$`, `the squared length of the vector $(@, %d, %d)$`), a, b), v*v + a*a + b*b
			}},
			{"shear power", maxValue / 1000, func(d *draft, v int64) (string, int64) {
				k := d.between(3, 60)
				return fmt.Sprintf(d.pick(`the top right entry of $\begin{pmatrix} 1 & @ \\ 0 & 1 \end{pmatrix}^{%d}$`, `the entry in the first row and second column of $\begin{pmatrix} 1 & @ \\ 0 & 1 \end{pmatrix}^{%d}$`), k), k * v
			}},
			{"kernel", maxValue / 2, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue)
				p := d.sizeUpTo(max(3, n-2))
				return fmt.Sprintf(d.pick(`the dimension of the kernel of a surjective linear map from $\mathbb{R}^{%s}$ to $\mathbb{R}^{%d}$`, `the dimension of the solution space of a homogeneous linear system in $%s$ unknowns whose matrix has rank $%d$`), tex, p), n - p
			}},
			{"symmetric", 1_000_000, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, 1_000_000)
				return fmt.Sprintf(d.pick(`the dimension of the vector space of symmetric real matrices with $%s$ rows`, `the number of entries on or above the main diagonal of a square matrix with $%s$ rows`), tex), n * (n + 1) / 2
			}},
			{"determinant residue", maxValue / 30_000_000, func(d *draft, v int64) (string, int64) {
				a, b, c, m := d.few(), d.few(), d.size(), d.size()+4
				return fmt.Sprintf(d.pick(`the remainder when $\det \begin{pmatrix} @ & %d \\ -%d & %d \end{pmatrix}$ is divided by $%d$`, `the least non-negative residue of $\det \begin{pmatrix} @ & %d \\ -%d & %d \end{pmatrix}$ modulo $%d$`), a, b, c, m), (v*c + a*b) % m
			}},
			{"triangular", maxValue / 1000, func(d *draft, v int64) (string, int64) {
				a, b, c := d.few(), d.few(), d.between(2, 40)
				return fmt.Sprintf(d.pick(`the determinant of $\begin{pmatrix} %[1]d & %[2]d & 1 \\ 0 & @ & %[3]d \\ 0 & 0 & 1 \end{pmatrix}$`, `the product of the eigenvalues of $\begin{pmatrix} %[1]d & %[2]d & 1 \\ 0 & @ & %[3]d \\ 0 & 0 & 1 \end{pmatrix}$`), a, b, c), a * v
			}},
			{"rank bound", maxValue, func(d *draft, v int64) (string, int64) {
				p := d.size()
				return fmt.Sprintf(d.pick("the largest possible rank of a matrix with $@$ rows and $%d$ columns", "the greatest rank that a real matrix with $@$ rows and $%d$ columns can have"), p), min(v, p)
			}},
		},
		finals: []final{
			{"product vector", maxValue / 30_000_000, func(d *draft, v int64) (string, answer) {
				a, b, c, x, y := d.few(), d.few(), d.few(), d.size(), d.few()
				return fmt.Sprintf(d.pick(`the pair $(x, y)$ of coordinates of $\begin{pmatrix} @ & %d \\ %d & %d \end{pmatrix} \begin{pmatrix} %d \\ %d \end{pmatrix}$`, `the image $(x, y)$, written as an ordered pair, under the matrix $\begin{pmatrix} @ & %d \\ %d & %d \end{pmatrix}$ of the vector $(%d, %d)$`), a, b, c, x, y), answer{gold: tuple(v*x+a*y, b*x+c*y)}
			}},
			{"eigenvalues", maxValue / 2, func(d *draft, v int64) (string, answer) {
				k := d.size()
				return fmt.Sprintf(d.pick(`the set of eigenvalues of $\begin{pmatrix} @ & %[1]d \\ %[1]d & @ \end{pmatrix}$`, `the set of all real $x$ for which $\begin{pmatrix} @ - x & %[1]d \\ %[1]d & @ - x \end{pmatrix}$ is singular`), k), answer{gold: set(v-k, v+k)}
			}},
			{"largest eigenvalue", maxValue / 2, func(d *draft, v int64) (string, answer) {
				a, b := d.few(), d.few()
				if a == b {
					b++
				}
				outer, inner := splitSquare(a * b)
				gold := itoa(v) + " + " + times(outer, inner)
				if inner == 1 {
					gold = itoa(v + outer)
				}
				return fmt.Sprintf(d.pick(`the larger eigenvalue, in exact form, of $\begin{pmatrix} @ & %d \\ %d & @ \end{pmatrix}$`, `the exact value of the larger root of the characteristic polynomial of $\begin{pmatrix} @ & %d \\ %d & @ \end{pmatrix}$`), a, b), answer{gold: gold}
			}},
			{"norm", 700_000, func(d *draft, v int64) (string, answer) {
				a, b := d.few(), d.sizeUpTo(700_000)
				return fmt.Sprintf(d.pick(`the Euclidean length of the vector $(@, %d, %d)$ in simplest radical form`, `the exact norm of the vector $(@, %d, %d)$, with the radical simplified`), a, b), answer{gold: radical(1, v*v+a*a+b*b)}
			}},
			{"inverse entry", 90_000, func(d *draft, v int64) (string, answer) {
				a, b, c := d.few(), d.few(), d.sizeUpTo(900_000)
				return fmt.Sprintf(d.pick(`the top left entry, in lowest terms, of the inverse of $\begin{pmatrix} @ & %d \\ -%d & %d \end{pmatrix}$`, `the entry in the first row and first column, in lowest terms, of $\begin{pmatrix} @ & %d \\ -%d & %d \end{pmatrix}^{-1}$`), a, b, c), answer{gold: fraction(c, v*c+a*b)}
			}},
			{"characteristic polynomial", maxValue / 30_000_000, func(d *draft, v int64) (string, answer) {
				a, b, c := d.few(), d.few(), d.size()
				return fmt.Sprintf(d.pick(`the characteristic polynomial, as a monic polynomial in $x$, of $\begin{pmatrix} @ & %d \\ -%d & %d \end{pmatrix}$`, `the polynomial $\det \left( x I - M \right)$ for $M = \begin{pmatrix} @ & %d \\ -%d & %d \end{pmatrix}$, with $I$ the identity matrix`), a, b, c), answer{gold: polynomial(1, -(v + c), v*c+a*b)}
			}},
			{"projection", 900_000, func(d *draft, v int64) (string, answer) {
				a, b := d.few(), d.few()
				return fmt.Sprintf(d.pick(`the number $x$, in lowest terms, for which $(@, 1) - x \cdot (%d, %d)$ is orthogonal to $(%[1]d, %[2]d)$`, `the coefficient $x$, in lowest terms, such that $x \cdot (%[1]d, %[2]d)$ is the orthogonal projection of $(@, 1)$ onto the line through the origin and $(%[1]d, %[2]d)$`), a, b), answer{gold: fraction(v*a+b, a*a+b*b)}
			}},
		},
	}
}

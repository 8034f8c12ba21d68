// How numbers are rounded in print.

package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
)

// slack absorbs what binary fractions do to decimal ones, relative to the numbers compared; their tolerance counts among
// them, since a printed 0 has no size of its own.
const slack = 1e-9

func rounded(x float64, decimals int) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', decimals, 64), 64)
	return rounded
}

// asPrinted returns a printed number and half a unit of its last digit.
func asPrinted(text string) (number, half float64) {
	number, _ = strconv.ParseFloat(text, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	_, digits, _ := strings.Cut(mantissa, ".")
	power, _ := strconv.Atoi(exponent)
	return number, halfUnit(len(digits) - power)
}

// short prints x with so many significant digits, and without an exponent.
func short(x float64, digits int) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// twoDigits is how many decimals show two significant digits of x, at least two.
func twoDigits(x float64) int {
	if x == 0 {
		return 2
	}
	return max(2, 1-int(math.Floor(math.Log10(x)+slack)))
}

// tolerance prints how far a printed number may lie from the recomputed one.
func tolerance(up, down, allow float64, decimals int) string {
	s := "±" + strconv.FormatFloat(up, 'f', decimals, 64)
	if strconv.FormatFloat(up, 'f', decimals, 64) != strconv.FormatFloat(down, 'f', decimals, 64) {
		s = "+" + strconv.FormatFloat(up, 'f', decimals, 64) + " -" + strconv.FormatFloat(down, 'f', decimals, 64)
	}
	if allow > 0 {
		s += fmt.Sprintf(", noise ±%v", allow)
	}
	return s
}

// half is half a unit of the last digit that a value is written with.
func half(v metrics.Value) float64 { return halfUnit(v.Decimals) }

// halfUnit is half a unit of the last of so many decimals.
func halfUnit(decimals int) float64 { return 0.5 * math.Pow(10, -float64(decimals)) }

func near(x, y, by float64) bool { return math.Abs(x-y) <= by+slack*(1+math.Abs(x)) }

// signed is a number with its sign, also where it is above 0.
func signed(x float64, decimals int) string {
	s := report.Fixed(x, decimals)
	if !strings.HasPrefix(s, "-") && strings.Trim(s, "0.") != "" {
		s = "+" + s
	}
	return s
}

// Units and their dimensions.

package formula

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// measure is a unit: what it measures, as a product of powers of dimensions, and its size in base units of these.
type measure struct {
	Dimension string
	Scale     *big.Rat
}

// measures lists dimensions with their units: names and sizes. A dimension of several words is a product of units.
var measures = []struct{ dimension, units string }{
	{"length", "m,meter,meters,metre,metres=1 cm,cms,centimeter,centimeters,centimetre,centimetres=1/100 mm,millimeter,millimeters,millimetre,millimetres=1/1000 km,kms,kilometer,kilometers,kilometre,kilometres=1000 " +
		"in,inch,inches=254/10000 ft,foot,feet=3048/10000 yd,yds,yard,yards=9144/10000 mi,mile,miles=1609344/1000 nm,nanometer,nanometers=1/1000000000 um,micrometer,micrometers,micron,microns=1/1000000 dm,decimeter,decimeters=1/10"},
	{"time", "s,sec,secs,second,seconds=1 min,mins,minute,minutes=60 h,hr,hrs,hour,hours=3600 day,days=86400 week,weeks=604800 ms,millisecond,milliseconds=1/1000"},
	{"year", "year,years,yr,yrs=12 month,months=1 decade,decades=120 century,centuries=1200"},
	{"mass", "g,gram,grams=1 kg,kgs,kilogram,kilograms=1000 mg,milligram,milligrams=1/1000 ton of mass=1000000"},
	{"weight", "lb,lbs,pound,pounds=16 oz,ounce,ounces=1 ton,tons=32000"},
	{"angle", "degree,degrees,deg=1"},
	{"temperature C", "celsius=1"},
	{"temperature F", "fahrenheit=1"},
	{"temperature K", "kelvin,kelvins=1"},
	{"dollar", "dollar,dollars,usd,buck,bucks=1 cent,cents=1/100"},
	{"euro", "euro,euros,eur=1"},
	{"sterling", "sterling,gbp=1 pence=1/100"},
	{"yen", "yen,jpy=1"},
	{"rupee", "rupee,rupees,rs,inr=1"},
	{"current", "ampere,amperes,amp,amps=1 milliampere,milliamperes,milliamp,milliamps=1/1000"},
	{"kg m / s ^2", "newton,newtons=1 kilonewton,kilonewtons=1000"},
	{"kg m ^2 / s ^2", "joule,joules=1 kilojoule,kilojoules=1000 megajoule,megajoules=1000000 calorie,calories,cal=4184/1000 kcal,kilocalorie,kilocalories=4184"},
	{"kg m ^2 / s ^3", "watt,watts=1 milliwatt,milliwatts=1/1000 kilowatt,kilowatts=1000 megawatt,megawatts=1000000"},
	{"kg / m / s ^2", "pascal,pascals=1 kilopascal,kilopascals=1000 atm,atmosphere,atmospheres=101325"},
	{"kg m ^2 / s ^3 / ampere", "volt,volts=1 millivolt,millivolts=1/1000 kilovolt,kilovolts=1000"},
	{"kg m ^2 / s ^3 / ampere ^2", "ohm,ohms=1 kilohm,kilohms,kiloohm,kiloohms=1000 megohm,megohms,megaohm,megaohms=1000000"},
	{"ampere s", "coulomb,coulombs=1 microcoulomb,microcoulombs=1/1000000"},
	{"ampere ^2 s ^4 / kg / m ^2", "farad,farads=1 microfarad,microfarads=1/1000000 nanofarad,nanofarads=1/1000000000"},
	{"frequency", "hertz=1"},
	{"amount", "mol,mole,moles=1"},
}

// cased lists the units whose case matters.
var cased = []struct{ dimension, units string }{
	{"kg m ^2 / s ^2", "J=1 kJ=1000 MJ=1000000 eV=1602176634/10000000000000000000000000000 keV=1602176634/10000000000000000000000000 MeV=1602176634/10000000000000000000000 GeV=1602176634/10000000000000000000"},
	{"kg m / s ^2", "N=1 kN=1000"},
	{"kg m ^2 / s ^3", "W=1 kW=1000 MW=1000000"},
	{"kg / m / s ^2", "Pa=1 kPa=1000 MPa=1000000"},
	{"kg m ^2 / s ^3 / ampere", "V=1 mV=1/1000 kV=1000"},
	{"kg m ^2 / s ^3 / ampere ^2", "Ω=1"},
	{"current", "A=1 mA=1/1000"},
	{"temperature K", "K=1"},
	{"frequency", "Hz=1 kHz=1000 MHz=1000000 GHz=1000000000"},
	{"mass", "Mg=1000000"},
	{"length", "Mm=1000000"},
}

// prefixed lists units that take a prefix where they are written as units: in \text, or where a letter is one.
var prefixed = map[string]bool{"g": true, "m": true, "s": true, "L": true, "N": true, "J": true, "W": true, "V": true, "A": true, "Ω": true, "Hz": true, "Pa": true, "F": true, "C": true}

// prefixes are those of the International System.
var prefixes = map[string]*big.Rat{"n": big.NewRat(1, 1e9), "μ": big.NewRat(1, 1e6), "m": big.NewRat(1, 1000), "k": big.NewRat(1000, 1), "M": big.NewRat(1e6, 1), "G": big.NewRat(1e9, 1)}

// unit looks one unit up, kΩ and μF as well.
func unit(name string, lower, exact map[string]measure) (measure, bool) {
	if m, ok := exact[name]; ok {
		return m, true
	}
	if m, ok := lower[strings.ToLower(name)]; ok {
		return m, true
	}
	_, size := utf8.DecodeRuneInString(name)
	factor, base := prefixes[name[:size]], name[size:]
	if factor == nil || !prefixed[base] {
		return measure{}, false
	}
	switch base { // alone, they are no units
	case "F":
		base = "farad"
	case "C":
		base = "coulomb"
	}
	m, ok := unit(base, lower, exact)
	if ok {
		m.Scale = new(big.Rat).Mul(factor, m.Scale)
	}
	return m, ok
}

// derived lists units by what they are made of.
var derived = []struct {
	names, unit string
	factor      *big.Rat
}{
	{"mph", "mi / h", big.NewRat(1, 1)},
	{"kph,kmh,kmph", "km / h", big.NewRat(1, 1)},
	{"l,liter,liters,litre,litres", "m ^3", big.NewRat(1, 1000)},
	{"ml,mls,milliliter,milliliters,millilitre,millilitres,cc", "m ^3", big.NewRat(1, 1_000_000)},
	{"cl,centiliter,centiliters", "m ^3", big.NewRat(1, 100_000)},
	{"gal,gallon,gallons", "in ^3", big.NewRat(231, 1)},
	{"qt,quart,quarts", "in ^3", big.NewRat(231, 4)},
	{"pint,pints", "in ^3", big.NewRat(231, 8)},
	{"cup,cups", "in ^3", big.NewRat(231, 16)},
	{"hectare,hectares,ha", "m ^2", big.NewRat(10_000, 1)},
	{"acre,acres", "ft ^2", big.NewRat(43_560, 1)},
	{"kwh", "joule", big.NewRat(3_600_000, 1)},
}

// measuresByName are the units by name: in whatever case, and as written.
var measuresByName = sync.OnceValues(func() (lower, exact map[string]measure) {
	table := func(lists []struct{ dimension, units string }) map[string]measure {
		m := map[string]measure{}
		for _, d := range lists {
			for f := range strings.FieldsSeq(d.units) {
				names, size, _ := strings.Cut(f, "=")
				if scale, ok := new(big.Rat).SetString(size); ok {
					for n := range strings.SplitSeq(names, ",") {
						m[n] = measure{d.dimension, scale}
					}
				}
			}
		}
		return m
	}
	lower, exact = table(measures), table(cased)
	for _, names := range []map[string]measure{lower, exact} {
		for n, m := range names {
			if fields := strings.Fields(m.Dimension); len(fields) > 1 {
				if made, ok := product(fields, lower, exact); ok {
					names[n] = measure{made.Dimension, new(big.Rat).Mul(made.Scale, m.Scale)}
				}
			}
		}
	}
	for _, d := range derived {
		base := measure{Dimension: d.unit, Scale: big.NewRat(1, 1)}
		if m, ok := product(strings.Fields(d.unit), lower, exact); ok {
			base = m
		}
		for n := range strings.SplitSeq(d.names, ",") {
			lower[n] = measure{base.Dimension, new(big.Rat).Mul(base.Scale, d.factor)}
		}
	}
	return lower, exact
})

// MeasureOf looks a unit up: a name, or a product of powers such as m / s ^2, square feet, miles per hour.
func MeasureOf(name string) (measure, bool) {
	name = strings.TrimSpace(name)
	lower, exact := measuresByName()
	if m, ok := unit(name, lower, exact); ok {
		return m, true
	}
	fields := strings.Fields(name)
	if len(fields) < 2 || len(fields) > 16 {
		return measure{}, false
	}
	return product(fields, lower, exact)
}

// product multiplies the factors of a unit out.
func product(fields []string, lower, exact map[string]measure) (measure, bool) {
	powers := map[string]int{}
	scale := big.NewRat(1, 1)
	sign, next := 1, 1 // of the exponent of the factor at hand; what "square" makes of the next
	for i := 0; i < len(fields); i++ {
		w := strings.ToLower(fields[i])
		switch w {
		case "/", "per":
			sign = -1
			continue
		case "square", "sq":
			next = 2
			continue
		case "cubic", "cu":
			next = 3
			continue
		case "squared", "cubed":
			return measure{}, false
		}
		m, ok := unit(fields[i], lower, exact)
		if !ok {
			return measure{}, false
		}
		k := next
		if i+1 < len(fields) {
			switch after := strings.ToLower(fields[i+1]); {
			case after == "squared":
				k, i = 2, i+1
			case after == "cubed":
				k, i = 3, i+1
			case strings.HasPrefix(after, "^"):
				e, err := strconv.Atoi(after[1:])
				if err != nil || e == 0 || e > 9 || e < -9 {
					return measure{}, false
				}
				k, i = e, i+1
			}
		}
		k *= sign
		sign, next = 1, 1
		for f := range strings.SplitSeq(m.Dimension, "*") {
			base, exponent, raised := strings.Cut(f, "^")
			e := 1
			if raised {
				e, _ = strconv.Atoi(exponent)
			}
			powers[base] += e * k
		}
		for range max(k, -k) {
			if k > 0 {
				scale.Mul(scale, m.Scale)
			} else {
				scale.Quo(scale, m.Scale)
			}
		}
	}
	if next != 1 || len(powers) == 0 {
		return measure{}, false
	}
	var dims []string
	for d, k := range powers {
		switch k {
		case 0:
		case 1:
			dims = append(dims, d)
		default:
			dims = append(dims, d+"^"+strconv.Itoa(k))
		}
	}
	slices.Sort(dims)
	return measure{strings.Join(dims, "*"), scale}, true
}

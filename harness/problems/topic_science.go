// Topics with options of the sciences: physics, chemistry and genetics.

package problems

import "fmt"

func physics() *topic {
	return &topic{
		id: "physics",
		settings: []string{
			"A laboratory logbook on mechanics and electricity is being evaluated.",
			"Friction is ignored and SI units are implied everywhere.",
			"Take the gravitational acceleration as $10$ metres per second squared.",
			"An oscilloscope and a spring balance stand on the bench.",
			"The experimenter trusts Newton, Ohm and Hooke.",
			"Charges, forces and energies obey the classical laws.",
		},
		links: []link{
			{"momentum", maxValue / 10_000_000, func(d *draft, v int64) (string, int64) {
				m := d.size()
				return fmt.Sprintf("the momentum (kg m/s) of a trolley of mass $%d$ kg rolling at $@$ m/s", m), m * v
			}},
			{"charge", maxValue / 10_000_000, func(d *draft, v int64) (string, int64) {
				t := d.size()
				return fmt.Sprintf("the electric charge (C) carried by a steady current of $@$ A during $%d$ s", t), v * t
			}},
			{"lift", maxValue / 200, func(d *draft, v int64) (string, int64) {
				h := d.few()
				return fmt.Sprintf("the potential energy (J) gained by a load of $@$ kg hoisted through $%d$ m when $g = 10$ m/s$^2$", h), 10 * h * v
			}},
			{"kinetic", 700_000, func(d *draft, v int64) (string, int64) {
				return "the kinetic energy (J) of a body of mass $2$ kg at a speed of $@$ m/s", v * v
			}},
			{"acceleration", maxValue / 20, func(d *draft, v int64) (string, int64) {
				a, t := d.size(), d.few()
				return fmt.Sprintf("the final speed (m/s) of a probe that starts at $@$ m/s and accelerates uniformly at $%d$ m/s$^2$ for $%d$ s", a, t), v + a*t
			}},
			{"series resistance", maxValue / 4, func(d *draft, v int64) (string, int64) {
				a, b := d.size(), d.few()
				return fmt.Sprintf("the total resistance (ohm) of three resistors of $@$, $%d$ and $%d$ ohm connected in series", a, b), v + a + b
			}},
			{"half-lives", maxValue / 512, func(d *draft, v int64) (string, int64) {
				n := d.between(2, 9)
				return fmt.Sprintf("the initial number of radioactive nuclei in a sample that has $@$ undecayed nuclei after $%d$ half-lives", n), v << n
			}},
			{"oscillations", maxValue, func(d *draft, v int64) (string, int64) {
				t := d.sizeUpTo(max(3, v/2))
				return fmt.Sprintf("the number of complete oscillations of a pendulum of period $%d$ s within $@$ s", t), v / t
			}},
			{"pulses", maxValue / 20, func(d *draft, v int64) (string, int64) {
				f, c := d.few(), d.size()+4
				return fmt.Sprintf("the reading of a pulse counter that restarts from zero after every $%d$ pulses, once it has received $%d$ pulses a second for $@$ s", c, f), v * f % c
			}},
		},
		finals: []final{
			{"work", maxValue / 10_000_000, func(d *draft, v int64) (string, answer) {
				s := d.size()
				return fmt.Sprintf("the work (J) done by a constant force of $@$ N along $%d$ m in its own direction", s), d.number(v*s, v+s, v*s/10)
			}},
			{"heat", maxValue / 1000, func(d *draft, v int64) (string, answer) {
				r := d.between(2, 20)
				return fmt.Sprintf("the heat (J) released in $@$ s by a resistor of $%d$ ohm through which $3$ A flow", r), d.number(9*r*v, 3*r*v, 9*v)
			}},
			{"current", maxValue, func(d *draft, v int64) (string, answer) {
				r := d.size()
				return fmt.Sprintf("the current (A) through a resistor of $%d$ ohm at a voltage of $@$ V, as an exact number", r), d.share(v, r)
			}},
			{"parallel", 99_999, func(d *draft, v int64) (string, answer) {
				r := d.sizeUpTo(99_999)
				return fmt.Sprintf("the resistance (ohm) of two resistors of $@$ ohm and $%d$ ohm connected in parallel, as an exact number", r), d.share(v*r, v+r)
			}},
		},
	}
}

func chemistry() *topic {
	return &topic{
		id: "chemistry",
		settings: []string{
			"A chemist weighs reagents and balances reactions.",
			"Round atomic masses are used: hydrogen 1, carbon 12, nitrogen 14, oxygen 16.",
			"Flasks, burettes and indicators are ready.",
			"Every reaction runs to completion without losses.",
			"The stockroom keeps acids apart from bases.",
			"Molecules are counted one by one in this thought experiment.",
		},
		links: []link{
			{"water mass", maxValue / 18, func(d *draft, v int64) (string, int64) {
				return "the mass (g) of $@$ mol of water, at $18$ g/mol", 18 * v
			}},
			{"hydrogen atoms", maxValue / 40, func(d *draft, v int64) (string, int64) {
				c := d.between(2, 9)
				h := 2*c + 2
				return fmt.Sprintf("the number of hydrogen atoms in $@$ molecules of an alkane with $%d$ carbon atoms a molecule", c), h * v
			}},
			{"combustion", maxValue / 20, func(d *draft, v int64) (string, int64) {
				return "the number of oxygen molecules needed to burn $@$ molecules of propane, $\\mathrm{C_3H_8}$, to carbon dioxide and water", 5 * v
			}},
			{"dilution", maxValue / 20, func(d *draft, v int64) (string, int64) {
				k := d.few()
				p := d.sizeUpTo(max(3, v))
				return fmt.Sprintf("the volume (mL) reached when $@$ mL of acid are diluted to $%d$ times their volume and $%d$ mL of buffer are then added", k, p), k*v + p
			}},
			quotient("flasks", "the number of flasks of $%d$ mL that $@$ mL of solvent fill to the brim"),
			remainder("rest", "the quantity (mL) that remains once as many ampoules of $%d$ mL as possible have been filled from $@$ mL of serum"),
			{"neutrons", maxValue / 20, func(d *draft, v int64) (string, int64) {
				return "the total number of neutrons in $@$ atoms of carbon-14, whose atomic number is $6$", 8 * v
			}},
			{"excess", maxValue / 20, func(d *draft, v int64) (string, int64) {
				p := 3*v + d.size()
				return fmt.Sprintf("the number of hydrogen molecules left over when $@$ molecules of nitrogen react with $%d$ molecules of hydrogen to form ammonia, $\\mathrm{NH_3}$", p), p - 3*v
			}},
			{"ion charge", maxValue / 20, func(d *draft, v int64) (string, int64) {
				p := d.size()
				return fmt.Sprintf("the number of chloride ions in a crystal with $@$ ions $\\mathrm{Ca^{2+}}$ and $%d$ ions $\\mathrm{Na^{+}}$ that is electrically neutral and has no other anions", p), 2*v + p
			}},
		},
		finals: []final{
			{"carbon dioxide", maxValue / 500, func(d *draft, v int64) (string, answer) {
				c := d.between(2, 9)
				return fmt.Sprintf("the mass (g) of carbon dioxide, at $44$ g/mol, from the complete combustion of $@$ mol of a hydrocarbon with $%d$ carbon atoms a molecule", c), d.number(44*c*v, 44*v, 28*c*v, 12*c*v)
			}},
			{"concentration", maxValue, func(d *draft, v int64) (string, answer) {
				p := d.size()
				return fmt.Sprintf("the concentration (mol/L), as an exact number, of $@$ mol of salt in $%d$ L of solution", p), d.share(v, p)
			}},
			{"mixture", 900_000, func(d *draft, v int64) (string, answer) {
				p := d.sizeUpTo(900_000)
				return fmt.Sprintf("the mass fraction of sugar, as a reduced fraction, in a syrup of $@$ g of sugar and $%d$ g of water", p), d.share(v, v+p)
			}},
			{"oxygen atoms", maxValue / 20, func(d *draft, v int64) (string, answer) {
				p := d.size()
				return fmt.Sprintf("the number of oxygen atoms in a vessel with $@$ molecules of ozone, $\\mathrm{O_3}$, and $%d$ molecules of carbon dioxide, $\\mathrm{CO_2}$", p), d.number(3*v+2*p, 3*v+p, 2*v+2*p, v+p)
			}},
		},
	}
}

func genetics() *topic {
	return &topic{
		id: "genetics",
		settings: []string{
			"A breeder follows traits through several generations.",
			"Alleles of different loci are inherited independently.",
			"The geneticist reads strands of DNA.",
			"Peas, fruit flies and mice are the usual witnesses.",
			"Mendel's ratios are taken to hold exactly.",
			"Chromosomes are counted under the microscope.",
		},
		links: []link{
			{"nucleotides", maxValue / 20, func(d *draft, v int64) (string, int64) {
				n, tex := d.grow(v, maxValue/4)
				return fmt.Sprintf("the number of nucleotides in a double-stranded DNA fragment of $%s$ base pairs", tex), 2 * n
			}},
			{"codons", maxValue / 20, func(d *draft, v int64) (string, int64) {
				p := d.few()
				return fmt.Sprintf("the number of nucleotides in a coding sequence of $@$ codons followed by $%d$ more codons, each codon having $3$ nucleotides", p), 3 * (v + p)
			}},
			{"adenine", maxValue / 20, func(d *draft, v int64) (string, int64) {
				p := d.size()
				return fmt.Sprintf("the number of guanine bases in a double helix of $%d$ base pairs of which exactly $@$ are adenine-thymine pairs", v+p), p
			}},
			{"mitosis", maxValue / 4096, func(d *draft, v int64) (string, int64) {
				n := d.between(2, 12)
				return fmt.Sprintf("the number of cells after $%d$ rounds of mitosis in a culture of $@$ cells, with no cell lost", n), v << n
			}},
			{"recessive", maxValue / 20, func(d *draft, v int64) (string, int64) {
				return "the expected number of plants with the dominant trait among $4 \\cdot @$ offspring of two heterozygous parents $\\mathrm{Aa}$", 3 * v
			}},
			{"somatic", maxValue / 20, func(d *draft, v int64) (string, int64) {
				k := d.few()
				return fmt.Sprintf("the number of chromosomes seen in $%d$ body cells of a diploid species whose gametes have $@$ chromosomes each", k), 2 * k * v
			}},
			quotient("litters", "the number of full cages when $@$ mice are housed in cages of exactly $%d$"),
			remainder("spare", "the number of bases left unread at the end of a strand of $@$ bases that a machine reads in complete blocks of $%d$"),
			{"genotypes", 1_000_000, func(d *draft, v int64) (string, int64) {
				return "the number of different diploid genotypes at one locus with $@$ alleles, the order of the two alleles being irrelevant", v * (v + 1) / 2
			}},
		},
		finals: []final{
			{"unaffected", maxValue, func(d *draft, v int64) (string, answer) {
				m := d.between(2, 3)
				n := v%m + 2
				num, den := int64(1), int64(1)
				for range n {
					num, den = 3*num, 4*den
				}
				return fmt.Sprintf("the probability that, of $n + 2$ children of two carriers $\\mathrm{Aa}$ of a recessive disorder, at least one is affected, where $n$ is the remainder of $@$ on division by $%d$", m), d.share(den-num, den)
			}},
			{"frequency", 900_000, func(d *draft, v int64) (string, answer) {
				p := d.sizeUpTo(900_000)
				return fmt.Sprintf("the expected share, as a reduced fraction, of $\\mathrm{aa}$ individuals under random mating if $@$ of $%d$ alleles in a gene pool are $\\mathrm{a}$", v+p), d.share(v*v, (v+p)*(v+p))
			}},
			{"carriers", maxValue / 20, func(d *draft, v int64) (string, answer) {
				p := d.size()
				return fmt.Sprintf("the expected number of heterozygous seedlings when a cross $\\mathrm{Aa} \\times \\mathrm{Aa}$ gives $2 \\cdot @$ seedlings and a cross $\\mathrm{AA} \\times \\mathrm{aa}$ gives $%d$", p), d.number(v+p, v, 2*v+p, p)
			}},
			{"cytosine", maxValue / 20, func(d *draft, v int64) (string, answer) {
				p := d.size()
				return fmt.Sprintf("the total number of bases in double-stranded DNA with $@$ adenine and $%d$ cytosine bases", p), d.number(2*v+2*p, v+p, 2*v+p, v+2*p)
			}},
		},
	}
}

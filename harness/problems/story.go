// Sentences that have nothing to do with a problem.

package problems

import (
	"math/rand/v2"
	"strings"
)

// lexicon holds the phrases that nuisance sentences are made of: known ones, which every set uses, and fresh ones, which
// only Choice problems use.
type lexicon struct {
	times, names, roles, acts, places, tails phraseList
}

type phraseList struct {
	known, fresh []string
}

func (l phraseList) draw(r *rand.Rand, fresh float64) string {
	if r.Float64() < fresh {
		return l.fresh[r.IntN(len(l.fresh))]
	}
	return l.known[r.IntN(len(l.known))]
}

// story returns whole sentences of at least the given number of words, and few more, that have nothing to do with
// the question. fresh is the share of phrases drawn from the lists that Math problems never use.
func (w lexicon) story(r *rand.Rand, words int, fresh float64) string {
	var b strings.Builder
	for count := 0; count < words; {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		s := w.sentence(r, words-count, fresh)
		count += 1 + strings.Count(s, " ")
		b.WriteString(s)
	}
	return b.String()
}

// sentence returns one sentence; room is about how many words it may take.
func (w lexicon) sentence(r *rand.Rand, room int, fresh float64) string {
	name := w.names.draw(r, fresh)
	act := w.acts.draw(r, fresh)
	place := w.places.draw(r, fresh)
	s := name + " " + act + " " + place
	if room > 12 || room > 7 && r.IntN(3) == 0 {
		s = name + ", " + w.roles.draw(r, fresh) + ", " + act + " " + place
	}
	if room > 8 && r.IntN(3) > 0 {
		s = w.times.draw(r, fresh) + ", " + s
	}
	if room > 14 || room > 8 && r.IntN(3) == 0 {
		s += " " + w.tails.draw(r, fresh)
	}
	return s + "."
}

func trainWords() lexicon {
	return lexicon{
		times: phraseList{
			known: []string{"On a rainy Tuesday", "After lunch", "Early in the morning", "Before the first bell", "Late in the evening", "At noon",
				"During the summer fair", "On the last day of term", "Once a week", "In the middle of March", "After a long walk", "While it snows",
				"On market days", "During the break", "On the way home", "Just after sunrise", "At the end of the month", "In the quiet hours",
				"On a windy afternoon", "Between two lessons", "When the shop is closed", "Right before supper", "On the second floor", "In early spring"},
			fresh: []string{"Throughout the harvest festival", "Ahead of the inspection", "Around midnight", "Following the ceremony", "By candlelight",
				"Amid heavy fog", "Every leap day", "Under a clear sky", "Shortly after the eclipse", "Upon arrival", "Halfway through the shift", "In the dry season",
				"On the eve of the regatta", "Despite the noise", "Well past the deadline", "At low tide"},
		},
		names: phraseList{
			known: []string{"Mira", "Jonas", "Aisha", "Tomas", "Lena", "Kofi", "Nadia", "Pavel", "Ingrid", "Ravi", "Sofia", "Emil", "Yuki", "Carlos", "Hana",
				"Dmitri", "Amara", "Felix", "Leila", "Oscar", "Priya", "Marek", "Zoe", "Hugo", "Fatima", "Viktor", "Clara", "Samir", "Greta", "Luca", "Noor",
				"Anton", "Rosa", "Kenji", "Elif", "Matteo", "Olga", "Bruno", "Salma", "Henrik"},
			fresh: []string{"Thandiwe", "Casimir", "Wilhelmina", "Obinna", "Saoirse", "Leopold", "Xiomara", "Ragnar", "Philippa", "Ottoline", "Bartholomew", "Ludmila",
				"Zephyr", "Ignatius", "Makoa", "Perpetua", "Evander", "Calliope", "Thaddeus", "Mehitabel", "Alasdair", "Ulrike", "Quentin", "Isolde"},
		},
		roles: phraseList{
			known: []string{"a retired baker", "the new librarian", "a careful gardener", "a student of music", "the youngest of three cousins", "a bus driver",
				"the school nurse", "a keen swimmer", "an old friend of the family", "a carpenter", "the captain of the chess club", "a neighbour",
				"a painter of signs", "the keeper of the keys", "a patient teacher", "a postman"},
			fresh: []string{"a seasoned cartographer", "the deputy archivist", "an apprentice glassblower", "a maritime lawyer", "the resident beekeeper",
				"a volunteer stargazer", "an itinerant locksmith", "the interim curator", "a licensed falconer", "an amateur mycologist", "a sceptical editor", "the bridge engineer"},
		},
		acts: phraseList{
			known: []string{"waters the tomatoes", "repairs an old bicycle", "sorts a pile of letters", "feeds the ducks", "paints a wooden fence", "reads a thick novel",
				"bakes bread", "practises the violin", "waits for the train", "draws maps", "folds paper boats", "sweeps the yard", "collects shells", "plays a game of cards",
				"mends a torn kite", "listens to the radio", "plants a row of beans", "counts passing clouds", "writes a postcard", "polishes the brass bell",
				"looks for a lost glove", "cooks soup", "hangs up lanterns", "takes photographs", "learns a new song", "carries firewood", "builds a small table", "walks the dog"},
			fresh: []string{"catalogues rare orchids", "translates an inscription", "calibrates a barometer", "restores a fresco", "rehearses a monologue",
				"dismantles a loom", "audits the pantry", "sketches cumulus formations", "embroiders a banner", "brews elderflower tonic", "unrolls a parchment",
				"tunes a harpsichord", "surveys the aqueduct", "debates with a colleague", "sharpens every chisel", "varnishes a canoe", "deciphers a telegram", "rewires the lighthouse"},
		},
		places: phraseList{
			known: []string{"behind the town hall", "near the harbour", "in the kitchen", "at the edge of the forest", "under the old bridge", "on the balcony",
				"in a quiet street", "beside the river", "at the corner shop", "in the school yard", "next to the well", "on the top step", "by the open window",
				"in the garden", "at the bus stop", "across from the museum", "in the attic", "below the clock", "along the canal", "in front of the bakery"},
			fresh: []string{"inside the observatory", "aboard a barge", "atop the citadel", "within the cloister", "beyond the quarry", "amongst the ruins",
				"outside the embassy", "at the foundry", "past the customs house", "in the vaulted cellar", "opposite the planetarium", "upon the viaduct",
				"throughout the arboretum", "alongside the reservoir"},
		},
		tails: phraseList{
			known: []string{"while the radio plays", "before the guests arrive", "and hums a tune", "with great patience", "as the sun goes down", "for the third time",
				"and thinks about the holidays", "until the rain stops", "with a borrowed pencil", "without looking up", "and enjoys the silence", "as every year",
				"to pass the time", "because the lift is broken", "and forgets the tea", "with cold hands"},
			fresh: []string{"notwithstanding the drizzle", "amid much applause", "in exchange for marmalade", "to everyone's bewilderment", "at considerable length",
				"under strict supervision", "for want of an alternative", "regardless of the forecast", "despite a sprained ankle", "with impeccable manners",
				"per the usual arrangement", "ahead of schedule"},
		},
	}
}

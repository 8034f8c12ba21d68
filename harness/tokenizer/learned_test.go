// Merges learned from texts, as those of fresh models were.

package tokenizer

import "strings"

// Learn returns merges for texts, the first one first: time and again the pair of neighbours that is most frequent in the
// pieces of the texts (Sennrich, Haddow and Birch 2016), of equally frequent ones the first in the order of their letters.
// There are fewer than n where no pair is left.
func Learn(scheme Scheme, texts []string, n int) ([][2]string, error) {
	t, err := New(Merged(scheme, nil))
	if err != nil {
		return nil, err
	}
	count := map[string]int{} // of a piece, its parts with blanks between them: no letter of a byte is a blank
	for _, text := range texts {
		for text = validUTF8(text); text != ""; {
			k := t.cut(text)
			var parts []string
			for i := range k {
				parts = append(parts, string(letters[text[i]]))
			}
			count[" "+strings.Join(parts, " ")+" "]++
			text = text[k:]
		}
	}
	var merges [][2]string
	for len(merges) < n {
		pairs := map[[2]string]int{}
		for piece, times := range count {
			parts := strings.Fields(piece)
			for i := 1; i < len(parts); i++ {
				pairs[[2]string{parts[i-1], parts[i]}] += times
			}
		}
		var best [2]string
		for pair, times := range pairs {
			if times > pairs[best] || times == pairs[best] && (pair[0] < best[0] || pair[0] == best[0] && pair[1] < best[1]) {
				best = pair
			}
		}
		if pairs[best] == 0 {
			break
		}
		merges = append(merges, best)
		merged := make(map[string]int, len(count))
		from, to := " "+best[0]+" "+best[1]+" ", " "+best[0]+best[1]+" "
		for piece, times := range count {
			for strings.Contains(piece, from) { // again, since neighbours share the blank between them
				piece = strings.Replace(piece, from, to, 1)
			}
			merged[piece] += times
		}
		count = merged
	}
	return merges, nil
}

// The names of proofs.
package decide

import "testing"

func TestAProofIsReadAsItIsWritten(t *testing.T) {
	for p := range Proof(len(proofNames)) {
		text, err := p.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		read := Proof(len(proofNames))
		if err := read.UnmarshalText(text); err != nil || read != p {
			t.Errorf("%q is read as %d (%v), want %d", text, read, err, p)
		}
	}
	var p Proof
	if err := p.UnmarshalText([]byte("certain")); err == nil {
		t.Error("a proof that there is none of is read")
	}
}

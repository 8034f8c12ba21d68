// Package strict reads JSON that has to be what it is read as, and nothing else.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// JSON decodes exactly one value without unknown keys.
func JSON(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	return nil
}

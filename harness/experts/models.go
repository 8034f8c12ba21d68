// The list of models of a server.

package experts

// models is what a server lists under /models.
type models struct {
	Data     []model `json:"data"`
	unlisted bool    // the server takes requests, and has no such list
}

type model struct {
	ID          string `json:"id"`
	Parent      string `json:"parent"`        // of an adapter: the model that it lies over; vLLM only
	MaxModelLen int    `json:"max_model_len"` // 0 of an adapter; vLLM only
	forgets     bool   // what does not fit, where other servers refuse it
}

func (m models) names() []string {
	var names []string
	for _, d := range m.Data {
		names = append(names, line(d.ID, ""))
	}
	return names
}

package compact

// Plan runs the layers of a policy over a context in order, each on the result of those
// before it. Summaries come from summarize; if it is nil, nothing is summarised and the
// reduction has the requests.
func (p *Policy) Plan(v *View, summarize Summarize) (*Reduction, error) {
	r, err := p.idle(v)
	if err == nil {
		err = r.run(p, summarize)
	}
	return r, err
}

package models

// choice collects the keys whose date fits the asked one best.
type choice struct {
	keys []key
	rank int
	date string
	// torn is set when the keys do not all have one date.
	torn bool
}

// How well the date of a line fits the date asked for, best first.
const (
	sameDate = iota
	noDate
	nowLatest
	someDate
	otherDate
)

// fit ranks the date a line has against the date asked for.
func fit(asked, has string) int {
	switch {
	case asked == has:
		return sameDate
	case has == "":
		return noDate
	case has == latest && asked == "":
		return nowLatest
	case has != latest && (asked == "" || asked == latest):
		return someDate
	}
	return otherDate
}

// add takes k in if no key before it fitted better.
func (c *choice) add(k key, asked, has string) {
	rank := fit(asked, has)
	switch {
	case rank == otherDate || (len(c.keys) > 0 && rank > c.rank):
		return
	case len(c.keys) == 0 || rank < c.rank:
		*c = choice{rank: rank, date: has}
	}
	c.torn = c.torn || has != c.date
	c.keys = append(c.keys, k)
}

// best returns the keys that fit best: none where their dates differ, as there
// is nothing to choose between two dates by.
func (c *choice) best() []key {
	if c.torn {
		return nil
	}
	return c.keys
}

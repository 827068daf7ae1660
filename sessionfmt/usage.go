package sessionfmt

// A Usage is what a record says that a call of a model took, in tokens, and what it cost,
// in US dollars. What nobody can have counted is as if it were not there: see Wild.
type Usage struct {
	Input        int64 // neither read from a cache nor written to it
	Output       int64
	CacheRead    int64
	CacheWrite   int64
	CacheWrite1h int64 // a part of CacheWrite
	Total        int64 // as the provider has it; 0 where it does not say

	Cost Cost
	Wild string // the first member that nobody can have counted; empty for none
}

// A Cost is the part of a usage that is about dollars.
type Cost struct {
	Input, CacheRead, CacheWrite, Total float64

	Known  bool // there is a Total
	Billed bool // the provider says that it is what it has billed
}

// MostUsage is how large a number of a usage may be, tokens or dollars: as far as
// JavaScript counts whole ones. It is finite, and not below nothing.
const MostUsage = 1 << 53

// Prompt is how many tokens the request had.
func (u *Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// Context is how many the request and its answer have together, as pi takes it.
func (u *Usage) Context() int64 {
	if u.Total != 0 {
		return u.Total
	}
	return u.Prompt() + u.Output
}

// Usage reads a usage object. Of any other value it is empty.
func (v Value) Usage() (u Usage) {
	var c Cursor
	u.Read(c.Reset(v))
	return u
}

// Read reads the usage object that comes next. Of equal keys the last one counts.
func (u *Usage) Read(c *Cursor) {
	*u = Usage{}
	for key := range c.Members {
		if n := u.count(string(key)); n != nil {
			*n = u.tokens(key, c)
		} else if string(key) == "cost" {
			u.readCost(c)
		}
	}
}

// count is where the number of tokens of that name goes, nil for other members.
func (u *Usage) count(name string) *int64 {
	switch name {
	case "input":
		return &u.Input
	case "output":
		return &u.Output
	case "cacheRead":
		return &u.CacheRead
	case "cacheWrite":
		return &u.CacheWrite
	case "cacheWrite1h":
		return &u.CacheWrite1h
	case "totalTokens":
		return &u.Total
	}
	return nil
}

func (u *Usage) readCost(c *Cursor) {
	u.Cost = Cost{}
	for key := range c.Members {
		switch string(key) {
		case "input":
			u.Cost.Input, _ = u.dollars(key, c)
		case "output":
			u.dollars(key, c) // nobody asks for it, but it may be wild
		case "cacheRead":
			u.Cost.CacheRead, _ = u.dollars(key, c)
		case "cacheWrite":
			u.Cost.CacheWrite, _ = u.dollars(key, c)
		case "total":
			u.Cost.Total, u.Cost.Known = u.dollars(key, c)
		case "totalFromProvider":
			u.Cost.Billed = string(c.Value()) == "true"
		}
	}
}

// tokens reads a number of tokens, cut to a whole one.
func (u *Usage) tokens(name []byte, c *Cursor) int64 {
	v := c.Value()
	if !v.IsNumber() {
		return 0
	}
	whole, exact := v.digits()
	if exact && whole <= MostUsage {
		return whole
	}
	n, ok := v.Float()
	if !ok || exact || n < 0 || n > MostUsage {
		u.wild("", name)
		return 0
	}
	return int64(n)
}

func (u *Usage) dollars(name []byte, c *Cursor) (d float64, ok bool) {
	v := c.Value()
	if !v.IsNumber() {
		return 0, false
	}
	if d, ok = v.Float(); !ok || d < 0 || d > MostUsage {
		u.wild("cost.", name)
		return 0, false
	}
	return d, true
}

// wild names a number, if it is the first.
func (u *Usage) wild(in string, name []byte) {
	if u.Wild == "" {
		u.Wild = in + string(name)
	}
}

// digits is a number of a few digits and nothing else: what most are.
func (v Value) digits() (n int64, ok bool) {
	if len(v) > 18 {
		return 0, false
	}
	for _, c := range v {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

package replay

import "hash/maphash"

var digestSeed = maphash.MakeSeed()

// digest is a hash of a message by what it says, however it is spelled. It is
// good for one run only.
func (m *machine) digest(v value) uint64 {
	m.spelled = v.AppendCompact(m.spelled[:0])
	return maphash.Bytes(digestSeed, m.spelled)
}

// digests maps the hashes of a list's shown messages to their places, in order.
// Messages that entries made are hashed once a machine.
func (m *machine) digests(l *list) (map[uint64][]int, error) {
	if m.hashes == nil {
		m.hashes = map[message]uint64{}
	}
	out := make(map[uint64][]int, l.shown)
	for i, msg := range l.all {
		if !msg.shown() {
			continue
		}
		h, ok := m.hashes[*msg]
		if !ok {
			v, err := m.aside.provider(msg)
			if err != nil {
				return nil, err
			}
			h = m.digest(v)
			m.hashes[*msg] = h
		}
		out[h] = append(out[h], i)
	}
	return out, nil
}

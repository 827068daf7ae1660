package export

import (
	"cmp"
	"crypto/sha256"
	"ctxtool/replay/ledger"
	"ctxtool/sessionfmt/jsonl"
	"encoding/hex"
	"fmt"
)

// messageRows makes the rows of messages: those of entries, and those that entries made.
func (m *maker) messageRows() {
	for rec := range m.Session.Len() {
		if kind := m.Session.Kind(rec); kind.IsMessage() {
			own := m.Replay.Own(rec)
			number, had := m.own[int32(rec)]
			if !had {
				number = -1
			}
			m.messageRow(&ledger.Message{Piece: own, Measure: m.Book.Measure(-1, own), Number: number})
		}
	}
	for i := range m.made {
		m.messageRow(&m.made[i])
	}
}

// messageRow makes the row of a message; its number is -1 if no request had it.
func (m *maker) messageRow(p *ledger.Message) {
	from := p.Origin()
	row := Message{
		Session: m.key, EntryID: m.Session.ID(from.Record), ParentID: m.id(m.Session.Parent(from.Record)),
		Line: int64(m.Session.Line(from.Record)),
		Role: p.Kind().String(), At: m.at(from.Record), OnPath: m.onPath[from.Record], Bytes: int64(p.Bytes),
		Tokens: int64(p.Tokens),
	}
	if !p.Own() {
		row.MadeBy = m.id(from.By)
	}
	if p.Number >= 0 {
		one := &m.messages[p.Number]
		row.FirstRequest, row.LastRequest, row.Requests = from0(one.first), from0(one.last), one.requests
		row.CarriedUSD = &one.dollars
		if by, ok := m.Removed[p.Number]; ok {
			row.RemovedBy, row.RemovedHow = m.id(by.By), some(by.Did.String())
		}
	}
	if m.contents != nil {
		row.SHA256 = m.content(p)
	}
	m.out.Messages = append(m.out.Messages, row)
	m.added()
}

// toolRows makes the rows of the calls of tools.
func (m *maker) toolRows() {
	for i := range m.Tools {
		c := &m.Tools[i]
		row := ToolCall{
			Session: m.key, CallID: c.ID, EntryID: m.Session.ID(c.Record), At: m.at(c.Record),
			OnPath: m.onPath[c.Record],
			Tool:   m.text(c.Tool), Action: unless0(c.Action), Subject: m.text(c.Subject), ArgsBytes: c.Asked,
			Outcome: c.Outcome, ResultBytes: c.Got,
			DurationMS: m.since(c.Record, c.Result), ResultEntryID: m.id(c.Result), Used: c.Used,
		}
		if k := m.Book.Answered(c.Record); k >= 0 {
			row.Request = from0(m.rows[k])
		}
		if c.Result >= 0 {
			own := m.Replay.Own(c.Result)
			row.ResultTokens = some(int64(m.Book.Measure(-1, own).Tokens))
			if number, ok := m.own[int32(c.Result)]; ok {
				one := &m.messages[number]
				row.Requests, row.CarriedUSD = one.requests, &one.dollars
				if by, ok := m.Removed[number]; ok {
					row.RemovedBy = m.id(by.By)
				}
			}
		}
		m.out.ToolCalls = append(m.out.ToolCalls, row)
		m.added()
	}
}

// content adds the text of a message, and returns its hash.
func (m *maker) content(p *ledger.Message) *string {
	msg, _, err := m.load.Message(p.Piece)
	if err != nil {
		m.err = cmp.Or(m.err, err)
		return nil
	}
	var text []byte
	for i := range msg.Blocks {
		if len(text) > 0 {
			text = append(text, '\n')
		}
		switch b := &msg.Blocks[i]; b.Kind {
		case jsonl.TextBlock, jsonl.ThinkingBlock:
			text = append(text, b.Text.Value.AppendText(nil)...)
		case jsonl.CallBlock:
			text = b.Args.AppendMinified(append(b.Name.AppendText(text), ' '))
		case jsonl.ImageBlock:
			text = fmt.Appendf(text, "[image: %d bytes of base64]", max(0, len(b.Data)-2))
		}
	}
	clean := m.text(string(text))
	sum := sha256.Sum256([]byte(clean))
	hash := hex.EncodeToString(sum[:])
	if !m.contents[hash] {
		m.contents[hash] = true
		m.out.Contents = append(m.out.Contents, Content{Session: m.key, SHA256: hash, Text: jsonl.UTF8(clean)})
		m.added()
	}
	return &hash
}

package outline

import (
	"cmp"

	"ctxtool/internal/read/activity"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// FirstPrompt returns the first words of what a person typed first on the path to the leaf, or in the file
// where damage leaves nothing on the path: of a prompt, or of a command that a model answered. What
// editors and agents wrote does not count. Where nobody typed any, it is the newest summary that the agent
// wrote while the person was away, else the first command, else what stands for an image.
func FirstPrompt(s *sessionfmt.Session, leaf int) (string, error) {
	f := finder{s: s, lines: s.NewReader()}
	path, _ := s.Path(leaf)
	for _, i := range path {
		if words, err := f.find(i); words != "" || err != nil {
			return words, err
		}
	}
	for i := range s.Len() {
		if words, err := f.find(i); words != "" || err != nil {
			return words, err
		}
	}
	return f.instead()
}

// PromptWords returns the first words of what a person typed of a prompt, given its entry: of its text or else of a
// command. They are empty if the person typed neither.
func PromptWords(line jsonl.Value) string {
	var msg jsonl.Message
	var at jsonl.Cursor
	msg.Read(at.Reset(line.Get("message")), jsonl.User)
	p := activity.ReadPrompt(msg.Text("\n"))
	return cmp.Or(FirstWords(p.Text), FirstWords(p.Command))
}

// A finder looks for what a person typed first.
type finder struct {
	s     *sessionfmt.Session
	lines *sessionfmt.Reader
	asked activity.Asked
	msg   jsonl.Message

	command, image string // the first ones
}

// find looks at a record, and returns the first words that it shows to be typed.
func (f *finder) find(i int) (words string, err error) {
	kind := f.s.Kind(i)
	switch {
	case f.s.Answers(i):
		return FirstWords(f.asked.Answered()), nil
	case kind == jsonl.Custom && !f.asked.Pending(), kind != jsonl.User && kind != jsonl.Custom:
		return "", nil
	}
	if _, err := f.lines.Message(i, &f.msg); err != nil {
		return "", err
	}
	p := activity.ReadPrompt(f.msg.Text("\n"))
	if kind == jsonl.Custom { // written by the agent, such as the output of a command
		p.Text, p.Command = "", ""
	}
	words = FirstWords(f.asked.Prompt(p))
	if kind == jsonl.User && words == "" {
		f.command = cmp.Or(f.command, p.Command)
		if p == (activity.Prompt{}) && f.image == "" {
			line, err := f.lines.Line(i)
			if err != nil {
				return "", err
			}
			f.image = Gist(kind, line)
		}
	}
	return words, nil
}

// instead returns what a session without a typed prompt is called.
func (f *finder) instead() (string, error) {
	for i := f.s.Len() - 1; i >= 0; i-- {
		if f.s.Kind(i) != jsonl.CustomEntry {
			continue
		}
		line, err := f.lines.Line(i)
		if err != nil {
			return "", err
		}
		if line.Get("customType").Is("away_summary") {
			if words := FirstWords(line.Get("data").Get("content").Text()); words != "" {
				return words, nil
			}
		}
	}
	if f.command != "" {
		return FirstWords(f.command), nil
	}
	return f.image, nil
}

package compact

import (
	"bytes"
	"fmt"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// Kept says how a context differs from what passes have promised of it, nil where it is
// just that: message by message what a provider gets, times aside. A summary is its
// words, whatever frame it stands in.
func Kept(promised *View, e *replay.Envelope) error {
	is, err := NewView(e, nil)
	if err != nil {
		return err
	}
	want, got := promised.live(), is.live()
	for k := range min(len(want), len(got)) {
		differ, err := promised.differs(want[k], is, got[k])
		if err != nil {
			return err
		}
		if differ != "" {
			return fmt.Errorf("message %d: %s", k, differ)
		}
	}
	if len(want) != len(got) {
		return fmt.Errorf("%d messages, and not %d", len(got), len(want))
	}
	return nil
}

// differs says how a message of a view differs from that of another, empty where it does
// not.
func (v *View) differs(i int, other *View, k int) (string, error) {
	a, b := &v.Messages[i], &other.Messages[k]
	if a.Heads {
		want, err := v.earlier(i)
		if err != nil {
			return "", err
		}
		got, err := other.earlier(k)
		if err == nil && want != got {
			return "the summary is another", nil
		}
		return "", err
	}
	if v.role(a) != other.role(b) {
		return fmt.Sprintf("a %s, and not a %s", b.Kind, a.Kind), nil
	}
	for _, name := range []string{"content", "toolCallId", "toolName", "isError"} {
		want, err := v.member(i, name)
		if err != nil {
			return "", err
		}
		got, err := other.member(k, name)
		if err != nil {
			return "", err
		}
		if !bytes.Equal(want, got) {
			return "another " + name, nil
		}
	}
	return "", nil
}

// role is the role in which a message is sent.
func (v *View) role(m *message) sessionfmt.Kind {
	switch {
	case m.isAssistant(), m.isResult():
		return m.Kind
	}
	return sessionfmt.User
}

// member is a member of a message as the view has it, in JavaScript's spelling. A text
// stands for the list of it.
func (v *View) member(i int, name string) ([]byte, error) {
	m := &v.Messages[i]
	if name == "content" {
		content, err := v.Content(i)
		if err == nil && content.IsString() {
			content = append(appendTextBlock(value{'['}, content), ']')
		}
		return content.AppendCompact(nil), err
	}
	raw, err := v.texts.provider(m)
	return raw.Get(name).AppendCompact(nil), err
}

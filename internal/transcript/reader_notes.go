package transcript

import "strings"

// system makes a block of a system message: what it sets, and the texts.
func (r *reader) system(m value) {
	var set []string
	r.text = appendTexts(r.text, m.Get("content"))
	if len(r.text) > 0 {
		set = append(set, "content")
	}
	for key, text := range m.Get("sections").Members {
		name := string(key)
		if text.IsNull() {
			set = append(set, "-"+name)
			continue
		}
		set = append(set, name)
		if len(r.text) > 0 {
			r.text = append(r.text, "\n\n"...)
		}
		r.text = text.AppendText(r.text)
	}
	for _, list := range []struct{ member, sign string }{{"toolsAdded", "+"}, {"toolsRemoved", "-"}} {
		for t := range m.Get(list.member).Elements {
			set = append(set, list.sign+t.Get("name").Text())
		}
	}
	r.b.Hidden = true
	r.say(System, strings.Join(set, ", "), r.text)
}

// edit makes a block of a context_edit: the title is the id of its target, the
// text what stands there now.
func (r *reader) edit(v value) {
	r.text = appendTexts(r.text, v.Get("replacement").Get("content"))
	r.say(Edit, v.Get("targetId").Text(), r.text)
}

// transform makes a block of a transform: the title is what it shows, else its
// name; the text is its own Markdown, else its summary.
func (r *reader) transform(v value) {
	display := v.Get("display")
	title := display.Get("title").Text()
	if title == "" {
		title = v.Get("transformerName").Text()
	}
	for op := range v.Get("patch").Elements {
		if op.Get("op").Is("compaction_apply") {
			r.cut(op)
			r.text = op.Get("summary").AppendText(r.text[:0])
		}
	}
	r.say(Transform, title, r.text)
}

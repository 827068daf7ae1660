package render

import (
	"bufio"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// json writes a comparison as one object. It holds no text in memory.
func (x diff) json(w *bufio.Writer) error {
	_, is, err := x.prompts()
	if err != nil {
		return err
	}
	o := object{w: w}
	o.text("schema", "ctxtool/diff/1")
	o.value("a", x.A)
	o.value("b", x.B)
	o.value("equal", x.Equal())
	o.value("shared", x.Shared)
	if len(x.Parts) > 0 {
		o.key("system")
		writeItems(w, x.Parts, func(o *object, c replay.ItemChange) {
			o.text("value", is.Parts[c.B].Text)
		})
	}
	if len(x.Tools) > 0 {
		o.key("tools")
		writeItems(w, x.Tools, func(o *object, c replay.ItemChange) {
			o.key("value")
			writeTool(o.w, is.Tools[c.B])
		})
	}
	if len(x.Options) > 0 {
		o.key("options")
		options := object{w: w}
		for _, c := range x.Options {
			options.key(c.Name)
			one := object{w: w}
			one.raw("a", c.A)
			one.raw("b", c.B)
			one.cause(c.Cause)
			one.close()
		}
		options.close()
	}
	if x.Model != nil {
		o.value("model", x.Model)
	}
	if x.MessagesDiffer() {
		o.key("messages")
		if err := x.writeMessages(w); err != nil {
			return err
		}
	}
	o.value("tokens", x.Tokens)
	o.value("bytes", x.Bytes)
	o.close()
	return w.WriteByte('\n')
}

func (o *object) cause(c replay.Cause) {
	if !c.IsZero() {
		o.value("cause", c)
	}
}

func writeItems(w *bufio.Writer, rows []replay.ItemChange, value func(o *object, c replay.ItemChange)) {
	w.WriteByte('[')
	for k, c := range rows {
		if k > 0 {
			w.WriteByte(',')
		}
		w.WriteByte('\n')
		o := object{w: w}
		o.text("change", string(c.Change))
		o.text("name", c.Name)
		o.places(c.A, c.B)
		if c.Change == replay.ChangeAdded || c.Change == replay.ChangeChanged {
			value(&o, c)
		}
		o.cause(c.Cause)
		o.close()
	}
	w.WriteString("\n]")
}

// places writes where something is on both sides, from 0.
func (o *object) places(a, b int) {
	if a >= 0 {
		o.value("a", a)
	}
	if b >= 0 {
		o.value("b", b)
	}
}

func (x diff) writeMessages(w *bufio.Writer) error {
	w.WriteByte('[')
	for k, c := range x.Messages {
		if k > 0 {
			w.WriteByte(',')
		}
		w.WriteByte('\n')
		o := object{w: w}
		o.text("change", string(c.Change))
		o.places(c.A, c.B)
		if c.Count > 1 {
			o.value("count", c.Count)
		}
		o.value("tokens", c.Tokens)
		if c.Respelt {
			v, err := x.ValueB(c.B)
			if err != nil {
				return err
			}
			o.raw("value", v)
		}
		o.cause(c.Cause)
		o.close()
	}
	_, err := w.WriteString("\n]")
	return err
}

// textOf is what a message says, as it is compared line by line: its texts and
// thoughts, its calls, and of images that they are there.
func textOf(content sessionfmt.Value) string {
	if content.IsString() {
		return content.Text()
	}
	var text []byte
	for _, b := range content.Blocks(sessionfmt.Unknown) {
		switch b.Kind {
		case sessionfmt.TextBlock, sessionfmt.ThinkingBlock:
			text = b.Says.AppendText(text)
		case sessionfmt.CallBlock:
			text = append(text, b.Name.Text()...)
			for name, v := range b.Args.Members {
				text = append(append(append(text, "\n  "...), name...), ": "...)
				if v.IsString() {
					text = v.AppendText(text)
				} else {
					text = append(text, v...)
				}
			}
		case sessionfmt.ImageBlock:
			text = append(append(append(text, "[image "...), b.Mime.Text()...), ']')
		default:
			text = append(text, b.Raw...)
		}
		text = append(text, '\n')
	}
	return string(text)
}

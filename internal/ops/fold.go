package ops

import (
	"bytes"

	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt/jsonl"
)

// setOptions sets the given options. Null keeps the old jsonl.Value, so an option cannot be cleared.
func setOptions(f *prompt.Fold, v jsonl.Value, _ origin.Origin) {
	set := func(to *jsonl.Value, name string) {
		if got := v.Get(name); !got.IsNull() {
			*to = bytes.Clone(got)
		}
	}
	set(&f.Options.Reasoning, "reasoning")
	set(&f.Options.Temperature, "temperature")
	set(&f.Options.MaxTokens, "maxTokens")
}

func setPart(f *prompt.Fold, v jsonl.Value, by origin.Origin) {
	f.SetPart(v.Get("partName").Exact(), v.Get("text").Exact(), by)
}

func removePart(f *prompt.Fold, v jsonl.Value, _ origin.Origin) {
	f.RemoveParts(v.Get("partName").Exact())
}

func replaceParts(f *prompt.Fold, v jsonl.Value, by origin.Origin) {
	f.ReplaceParts()
	for p := range v.Get("parts").Elements {
		f.AddPart(p.Get("name").Exact(), p.Get("text").Exact(), by)
	}
}

func replaceTools(f *prompt.Fold, v jsonl.Value, by origin.Origin) {
	f.ReplaceTools()
	for t := range v.Get("tools").Elements {
		f.AddTool(prompt.NewTool(bytes.Clone(t), by))
	}
}

func removeTools(f *prompt.Fold, v jsonl.Value, _ origin.Origin) {
	for name := range v.Get("toolNames").Elements {
		if name.IsString() {
			f.RemoveTools(name.Text())
		}
	}
}

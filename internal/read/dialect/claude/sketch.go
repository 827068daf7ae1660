package claude

import (
	"iter"
	"slices"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// sketches implements Sketch of the dialect.
func sketches(lines iter.Seq2[dialect.Span, jsonl.Value]) map[dialect.Span]*dialect.Sketch {
	all, byID := map[dialect.Span]*dialect.Sketch{}, map[string]*dialect.Sketch{}
	prompts := map[string]*dialect.PromptSketch{}
	for at, line := range lines {
		f := line.All("type", "shapeHash", "shape", "id", "params", "base", "keep")
		if f[0].Is("api-request-shape") {
			shape := slices.Clone(f[2])
			prompt := &dialect.PromptSketch{Sections: blocksOf(shape.Get("system"))}
			for _, t := range definitionsOf(shape.Get("tools")) {
				prompt.Tools = append(prompt.Tools, t.definition)
			}
			prompts[f[1].Text()] = prompt
			continue
		}
		var base *dialect.Sent
		if one := byID[f[5].Text()]; one != nil {
			base = one.Sent
		}
		keep, has := f[6].Int(), int64(0)
		if base != nil {
			has = int64(base.Len())
		}
		prompt := prompts[f[1].Text()]
		if prompt == nil || keep < 0 || keep > has {
			continue
		}
		var tail []dialect.Digest
		for of := range line.Get("tail").Elements {
			tail = append(tail, digestOf(of))
		}
		one := &dialect.Sketch{Params: slices.Clone(f[4]), Prompt: prompt, Sent: dialect.NewSent(base, int(keep), tail)}
		all[at], byID[f[3].Text()] = one, one
	}
	return all
}

package replay

import "bytes"

var toolsReplace = op{
	name:   "tools_replace",
	cached: true,
	check: func(v value) error {
		return needList(v, "tools", func(t value) error { return needText(t, "name") })
	},
	fold: func(f *folded, v value, by Origin) {
		f.replaceTools()
		for t := range v.Get("tools").Elements {
			f.tools = append(f.tools, newTool(bytes.Clone(t), by))
		}
	},
}

var toolsRemove = op{
	name:   "tools_remove",
	cached: true,
	check: func(v value) error {
		return needList(v, "toolNames", func(value) error { return nil })
	},
	fold: func(f *folded, v value, _ Origin) {
		for name := range v.Get("toolNames").Elements {
			f.removeTools(name)
		}
	},
}

package replay

import "cmp"

var systemPartSet = op{
	name:   "system_part_set",
	cached: true,
	check: func(v value) error {
		return cmp.Or(needText(v, "partName"), optionalText(v, "text"))
	},
	fold: func(f *folded, v value, by Origin) {
		f.setPart(v.Get("partName").Text(), v.Get("text").Text(), by)
	},
}

var systemPartRemove = op{
	name:   "system_part_remove",
	cached: true,
	check:  func(v value) error { return needText(v, "partName") },
	fold: func(f *folded, v value, _ Origin) {
		f.removeParts(v.Get("partName").Text())
	},
}

var systemPartsReplace = op{
	name:   "system_parts_replace",
	cached: true,
	check: func(v value) error {
		return needList(v, "parts", func(p value) error {
			return cmp.Or(needText(p, "name"), optionalText(p, "text"))
		})
	},
	fold: func(f *folded, v value, by Origin) {
		f.replaceParts()
		for p := range v.Get("parts").Elements {
			f.parts = append(f.parts, newPart(p.Get("name").Text(), p.Get("text").Text(), by))
		}
	},
}

package gemini

import "ctxtool/internal/rule"

var compared = []rule.Compared{}

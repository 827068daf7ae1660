package claude

import "ctxtool/internal/rule"

// Rules are the rules, and what was compared.
var Rules = rule.NewTable(nil, compared)

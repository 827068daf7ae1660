package cline

import "ctxtool/internal/rule"

var compared []rule.Compared

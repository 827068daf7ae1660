// Package checks holds the pages of ctxtool's checks, for those who print them.
package checks

import "embed"

// Pages are the pages, CODE.md for each check.
//
//go:embed *.md
var Pages embed.FS

package gate

import "ctxtool/stats/table"

// The names of the figures.
const (
	sessionRequests       = "session.requests"
	sessionPromptRequests = "session.prompt-requests"
	sessionToolErrors     = "session.tool-errors"
	contextTokens         = "context.tokens"
	contextShare          = "context.share"
	contextLargest        = "context.largest"
	contextReread         = "context.reread"
	sweEfficiency         = "swe-cli.efficiency"
	sweWaste              = "swe-cli.waste"
	sweAutonomy           = "swe-cli.autonomy"
	sweCompaction         = "swe-cli.compaction"
	swePrecision          = "swe-cli.precision"
	contextUnused         = "context.unused"
	growthPeak            = "growth.peak"
	growthShare           = "growth.share"
	costTotal             = "cost.total"
	costRecorded          = "cost.recorded"
	costSession           = "cost.session"
	costDay               = "cost.day"
	compactionsCount      = "compactions.count"
	compactionsLoops      = "compactions.loops"
	compactionsReduction  = "compactions.reduction"
	bytesRequest          = "bytes.request"
	bytesShare            = "bytes.share"
	bytesLine             = "bytes.line"
	cacheHitRate          = "cache.hit-rate"
	cacheSessionHitRate   = "cache.session-hit-rate"
	cacheRebilled         = "cache.rebilled"
	checkErrors           = "check.errors"
	checkWarnings         = "check.warnings"
)

// figures are all figures, in the order of the help; see Figure.of. A new one is a name, a row here, and a call of add
// in what reads its lens.
var figures = []Figure{
	{sessionRequests, table.Number, eachSession, "requests of each session, on all branches"},
	{sessionPromptRequests, table.Number, eachSession, "the most that any prompt took"},
	{sessionToolErrors, table.Share, eachSession, "share of tool calls that failed"},
	{contextTokens, table.Tokens, eachSession, "tokens of the context of each session, at its leaf"},
	{contextShare, table.Share, eachSession, "its share of the window"},
	{contextLargest, table.Tokens, allSessions, "tokens of the largest message in any context"},
	{contextReread, table.Tokens, allSessions, "tokens of files that contexts hold more than once"},
	{sweEfficiency, table.Share, eachSession, "share of requests below SWE-CLI's threshold"},
	{sweWaste, table.Share, eachSession, "share of the context's tokens in results that say nothing new"},
	{sweAutonomy, table.Share, eachSession, "share of prompts that ended without abort, error or steering"},
	{sweCompaction, table.Share, eachSession, "share of tokens that the session's compactions removed"},
	{swePrecision, table.Share, eachSession, "share of reads and searches that later answers used"},
	{contextUnused, table.Tokens, eachSession, "tokens per request of tools and skills that no request used"},
	{growthPeak, table.Tokens, eachSession, "tokens of the largest request of each session's path"},
	{growthShare, table.Share, eachSession, "the largest share of the window"},
	{costTotal, table.Dollars, allSessions,
		"dollars of all sessions together, each call once: as recorded, else by the table"},
	{costRecorded, table.Dollars, allSessions, "the part of it that is recorded"},
	{costSession, table.Dollars, eachSession, "dollars of each session"},
	{costDay, table.Dollars, eachGroup, "dollars of each day, each call once"},
	{compactionsCount, table.Number, eachSession, "compactions on the path of each session"},
	{compactionsLoops, table.Number, eachSession, "those that are part of a loop that frees nothing"},
	{compactionsReduction, table.Share, eachEntry, "what each compaction freed of the context"},
	{bytesRequest, table.Bytes, eachSession, "bytes of the next request of each session"},
	{bytesShare, table.Share, eachSession, "their share of what the provider takes"},
	{bytesLine, table.Bytes, eachSession, "bytes of the largest line of each file"},
	{cacheHitRate, table.Share, allSessions,
		"what a cache served of the prompts of the paths, all sessions together"},
	{cacheSessionHitRate, table.Share, eachSession, "the same of each session"},
	{cacheRebilled, table.Dollars, allSessions, "dollars rebilled, all sessions together"},
	{checkErrors, table.Number, eachSession, "errors that ctxtool check finds in each session"},
	{checkWarnings, table.Number, eachSession, "warnings that it finds"},
}

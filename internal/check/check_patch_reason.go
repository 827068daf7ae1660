package check

var patchReason = Check{
	Code:     "patch-reason",
	Group:    "patches",
	Severity: Error,
	Title:    "an operation on cached content without a reason",
	About: "What changes the cached part of a request costs money, so it has to say why: " +
		"`invalidateCacheReason` is missing or blank.",
	Pi:   "It ignores transforms. The reference code fails to build any request; here the replay stops.",
	Help: "`--lenient` leaves the whole patch out.",
}

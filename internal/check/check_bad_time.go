package check

var badTime = Check{
	Code:     "bad-time",
	Group:    "times",
	Severity: Warning,
	Title:    "a timestamp that is no time",
	About: "An entry is stamped with the time at which it was written. Without one it cannot be put in " +
		"order, and a message made from it has no time.",
	Pi:   "It passes `null` on as the time of a message, and sorts the branches of its tree in any order.",
	Help: "Correct it by hand, or leave it.",
	file: findBadTimes,
}

func findBadTimes(x *subject) {
	for i := range x.s.Len() {
		if !x.s.Kind(i).IsEntry() {
			continue
		}
		if _, ok := x.s.Time(i); !ok {
			x.add(i, "its timestamp is missing or is no time")
		}
	}
}

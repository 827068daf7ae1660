package migrate

// A Compaction is what happens to compaction entries that no patch repeats.
type Compaction string

// The forms.
const (
	Auto      Compaction = "auto"      // default, also if empty: Pair if the file replays by the envelope rules, else Native
	Native    Compaction = "native"    // unchanged: readers of compaction entries see it
	Pair      Compaction = "pair"      // a patch, followed by the entry as its shadow: all readers see one compaction
	Transform Compaction = "transform" // only the patch, which pi does not see
)

// Compactions are the names of all forms.
var Compactions = []string{string(Auto), string(Native), string(Pair), string(Transform)}

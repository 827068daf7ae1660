package migrate

import "fmt"

// Compaction says what becomes of compaction entries that no patch stands for.
type Compaction uint8

// The forms that a compaction can have.
const (
	Auto      Compaction = iota // Pair where the file replays by the envelope rules, else Native
	Native                      // as it is: only readers that know compaction entries see it
	Pair                        // a patch, and the entry behind it as its shadow: everybody sees one compaction
	Transform                   // the patch alone, which today's pi does not see
)

var compactionNames = [...]string{Auto: "auto", Native: "native", Pair: "pair", Transform: "transform"}

// String is the name on the command line.
func (c Compaction) String() string { return compactionNames[c] }

// CompactionNames are the names that ParseCompaction takes.
func CompactionNames() []string { return compactionNames[:] }

// ParseCompaction reads a name of CompactionNames.
func ParseCompaction(name string) (Compaction, error) {
	for c, n := range compactionNames {
		if n == name {
			return Compaction(c), nil
		}
	}
	return 0, fmt.Errorf("unknown form of compactions %q", name)
}

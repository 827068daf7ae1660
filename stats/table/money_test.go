package table_test

import (
	"testing"

	"ctxtool/stats/table"
)

func TestMoney(t *testing.T) {
	for _, test := range []struct {
		dollars  float64
		unpriced int64
		want     string
	}{{0, 0, "$0.00"}, {1.256, 0, "$1.26"}, {1.256, 3, "$1.26+"}, {0, 3, "unknown"}} {
		money := table.Money{Dollars: test.dollars, Decimals: 2, Unpriced: test.unpriced}
		if got := money.String(); got != test.want {
			t.Errorf("%v with %d unpriced: %q, want %q", test.dollars, test.unpriced, got, test.want)
		}
	}
}

package table

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// units are the units that a word of Fields gives.
var units = map[string]Unit{
	"": Text, "number": Number, "path": Path, "entry": Entry, "tokens": Tokens, "bytes": Bytes, "dollars": Dollars, "share": Share, "size": Size,
}

// Fields returns columns of fields that rows have in JSON, each a word: NAME=PATH:UNIT?*, of which
// the name is enough. A + in it is a blank. PATH leads to the field (a.b is b in a); without it the
// name does (a_b). Without a unit, integers are numbers. A field in something that a row does not
// have is none, and so is a zero one with the question mark. A star marks a flexible column.
func Fields[T any](words string) (columns []Column[*T]) {
	for word := range strings.FieldsSeq(words) {
		name, flex := strings.CutSuffix(word, "*")
		name, unless0 := strings.CutSuffix(name, "?")
		name, unit, _ := strings.Cut(name, ":")
		name, path, given := strings.Cut(name, "=")
		if !given {
			path = strings.ReplaceAll(name, "_", ".")
		}
		steps, last := stepsTo(reflect.TypeFor[*T](), path)
		column := Column[*T]{Name: strings.ReplaceAll(name, "+", " "), Unit: units[unit], Flex: flex}
		if unit == "" && (last.Kind() == reflect.Int || last.Kind() == reflect.Int64) {
			column.Unit = Number
		}
		column.Value = func(row *T) any {
			v := reflect.ValueOf(row)
			for _, step := range steps {
				if v = reflect.Indirect(v); !v.IsValid() {
					return nil
				}
				v = v.FieldByIndex(step)
			}
			return If(!unless0 || !v.IsZero(), v.Interface())
		}
		columns = append(columns, column)
	}
	return columns
}

// stepsTo returns the indexes of the fields on a path of names in JSON, and the type of the last.
func stepsTo(t reflect.Type, path string) (steps [][]int, last reflect.Type) {
	for name := range strings.SplitSeq(path, ".") {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		fields := reflect.VisibleFields(t)
		k := slices.IndexFunc(fields, func(f reflect.StructField) bool {
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return tag == name
		})
		if k < 0 {
			panic(fmt.Sprintf("%v has no field %s", t, path))
		}
		steps, t = append(steps, fields[k].Index), fields[k].Type
	}
	return steps, t
}

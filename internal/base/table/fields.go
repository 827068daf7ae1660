package table

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// units are the units that a word of Fields gives.
var units = map[string]Unit{
	"": Text, "number": Number, "path": Path, "entry": Entry, "tokens": Tokens, "bytes": Bytes, "dollars": Dollars,
	"share": Share, "size": Size, "short": Short,
}

// Fields returns columns of fields that rows have in JSON, each a word: NAME=PATH:UNIT?~*!N, of which
// the name is enough, and a dollar for the next one of the others. A + in it is a blank. PATH leads to the
// field (a.b is b in a), or with a bar to the first of several that is not zero; without it the name does
// (a_b). Without a unit, integers are numbers, and so is the length of a list. A field in something that a
// row does not have is none, and so is a zero one with the question mark. A tilde marks estimates, a star a
// flexible column, N is what it yields.
func Fields[T any](words string, others ...Column[*T]) (columns []Column[*T]) {
	for word := range strings.FieldsSeq(words) {
		if word == "$" {
			columns, others = append(columns, others[0]), others[1:]
			continue
		}
		c, value := field(reflect.TypeFor[T](), word)
		columns = append(columns, Column[*T]{
			Name: c.Name, Unit: c.Unit, Flex: c.Flex, Yields: c.Yields,
			Value: func(row *T) any { return value(reflect.ValueOf(row)) },
		})
	}
	return columns
}

// field returns the column of a word of Fields, and what gives its cells.
func field(row reflect.Type, word string) (column Column[any], value func(row reflect.Value) any) {
	word, yields, _ := strings.Cut(word, "!")
	name := strings.TrimRight(word, "?~*")
	signs := word[len(name):]
	name, unit, _ := strings.Cut(name, ":")
	name, path, given := strings.Cut(name, "=")
	if !given {
		path = strings.ReplaceAll(name, "_", ".")
	}
	var ways [][][]int
	var last reflect.Type
	for way := range strings.SplitSeq(path, "|") {
		var steps [][]int
		steps, last = stepsTo(row, way)
		ways = append(ways, steps)
	}
	column = Column[any]{
		Name: strings.ReplaceAll(name, "+", " "), Unit: units[unit], Flex: strings.Contains(signs, "*"),
	}
	column.Yields, _ = strconv.Atoi(yields)
	if k := last.Kind(); unit == "" && (k == reflect.Int || k == reflect.Int64 || k == reflect.Slice) {
		column.Unit = Number
	}
	return column, func(row reflect.Value) any {
		v := firstOf(row, ways)
		switch {
		case !v.IsValid() || strings.Contains(signs, "?") && v.IsZero():
			return nil
		case v.Kind() == reflect.Slice:
			return v.Len()
		case strings.Contains(signs, "~"):
			return About{v.Interface()}
		}
		return v.Interface()
	}
}

// firstOf returns the first field that is not zero, or else the last one.
func firstOf(row reflect.Value, ways [][][]int) (found reflect.Value) {
	for _, steps := range ways {
		v := row
		for _, step := range steps {
			if v = reflect.Indirect(v); !v.IsValid() {
				break
			}
			v = v.FieldByIndex(step)
		}
		found = v
		if v.IsValid() && !v.IsZero() {
			break
		}
	}
	return found
}

// stepsTo returns the indexes of the fields on a path of names in JSON, and the type of the last.
func stepsTo(t reflect.Type, path string) (steps [][]int, last reflect.Type) {
	for name := range strings.SplitSeq(path, ".") {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		f, ok := named(t, name)
		if !ok {
			panic(fmt.Sprintf("%v has no field %s", t, path))
		}
		steps, t = append(steps, f.Index), f.Type
	}
	return steps, t
}

// named returns the field that has a name in JSON, in a struct or in what that embeds. Programs start
// with many of these: reflect.VisibleFields takes several times as long.
func named(t reflect.Type, name string) (f reflect.StructField, ok bool) {
	for i := range t.NumField() {
		f = t.Field(i)
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f, true
		}
		if in := f.Type; f.Anonymous && in.Kind() == reflect.Struct {
			if inner, ok := named(in, name); ok {
				inner.Index = append(f.Index, inner.Index...)
				return inner, true
			}
		}
	}
	return f, false
}

package stats

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"ctxtool/internal/base/sorting"
)

// addUp adds the numbers of a struct to those of another of the same type, including those in its structs and
// maps.
func addUp[T any](sum, one *T) { addNumbers(reflect.ValueOf(sum).Elem(), reflect.ValueOf(one).Elem()) }

func addNumbers(sum, one reflect.Value) {
	switch sum.Kind() {
	case reflect.Int, reflect.Int64:
		sum.SetInt(sum.Int() + one.Int())
	case reflect.Float64:
		sum.SetFloat(sum.Float() + one.Float())
	case reflect.Struct:
		for i := range sum.NumField() {
			if sum.Field(i).CanSet() {
				addNumbers(sum.Field(i), one.Field(i))
			}
		}
	case reflect.Map:
		for key, n := range one.Seq2() {
			total := reflect.New(n.Type()).Elem()
			if was := sum.MapIndex(key); was.IsValid() {
				total.Set(was)
			}
			addNumbers(total, n)
			sum.SetMapIndex(key, total)
		}
	}
}

// partOf returns the part of a sum, creating it if necessary.
func partOf[P any](part **P, fresh *P) *P {
	if *part == nil {
		*part = fresh
	}
	return *part
}

// rowOf returns the row with a key, appending it to the list if it is new; at has the indexes by key. The row
// is valid until the next call.
func rowOf[K comparable, R any](list *[]R, at map[K]int, key K, fresh R) *R {
	i, ok := at[key]
	if !ok {
		i = len(*list)
		at[key] = i
		*list = append(*list, fresh)
	}
	return &(*list)[i]
}

// filed appends a session's list to that of several sessions, with its file name.
func filed[T any](all, one []T, file string, of func(*T) *string) []T {
	for _, item := range one {
		name := of(&item)
		*name = cmp.Or(*name, file)
		all = append(all, item)
	}
	return all
}

// largest holds at most n elements of a list, sorted; of equal ones the first comes first.
func largest[T any](list []T, n int, size func(T) int) []T {
	sorting.By(list, func(a, b T) int { return cmp.Compare(size(b), size(a)) })
	return list[:min(len(list), n)]
}

// keep inserts one into a list of the largest; of equal ones the first comes first.
func keep[T any](list []T, one T, size func(T) int) []T {
	i := len(list)
	for i > 0 && size(list[i-1]) < size(one) {
		i--
	}
	if i == most {
		return list
	}
	return slices.Insert(list, i, one)[:min(len(list)+1, most)]
}

// fullest returns the largest elements of a long list, and a note on the others.
func fullest[T any](list []T, size func(T) int) (some []T, notes []string) {
	if n := len(list) - most; n > 0 {
		notes = []string{fmt.Sprintf("%d more sessions are in -f json.", n)}
	}
	return largest(slices.Clone(list), most, size), notes
}

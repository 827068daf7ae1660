package redact_test

import (
	"fmt"
	"log"

	"ctxtool/internal/lens/redact"
)

func ExampleRedactor_Text() {
	r, err := redact.New(redact.Options{Values: []string{"parcel-prod-7"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Text("ssh parcel-prod-7 as mara@parcel.dev, then cat /home/mara/notes"))
	// Output:
	// ssh [redacted:value-1] as [redacted:email-1], then cat /home/user-1/notes
}

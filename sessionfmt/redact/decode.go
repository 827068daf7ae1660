package redact

// quotedPrintableWords show that a text may be quoted-printable.
var quotedPrintableWords = []string{"=3d", "=\n", "=\r\n"}

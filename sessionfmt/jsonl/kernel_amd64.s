//go:build !purego

#include "textflag.h"

// The idea is simdjson's: masks of 64 bytes at a time, one bit a byte, and the
// escaped ones found by an addition that carries through runs of backslashes.

#define BYTES32(name, word) \
	DATA name<>+0(SB)/8, $word  \
	DATA name<>+8(SB)/8, $word  \
	DATA name<>+16(SB)/8, $word \
	DATA name<>+24(SB)/8, $word \
	GLOBL name<>(SB), RODATA|NOPTR, $32

BYTES32(quotes, 0x2222222222222222)
BYTES32(backslashes, 0x5c5c5c5c5c5c5c5c)
BYTES32(controls, 0x1f1f1f1f1f1f1f1f)
BYTES32(nibbles, 0x0f0f0f0f0f0f0f0f)

// A letter may follow a backslash if the bits that its low and its high half
// stand for have one in common: bit 0 is 2x, bit 1 is 5x, bit 2 is 6x, bit 3 is
// 7x. That makes " / \ b f n r t; u is left to the caller.
DATA low<>+0(SB)/8, $0x00040008000d0000
DATA low<>+8(SB)/8, $0x0104000200000000
DATA low<>+16(SB)/8, $0x00040008000d0000
DATA low<>+24(SB)/8, $0x0104000200000000
GLOBL low<>(SB), RODATA|NOPTR, $32

DATA high<>+0(SB)/8, $0x0804020000010000
DATA high<>+8(SB)/8, $0x0000000000000000
DATA high<>+16(SB)/8, $0x0804020000010000
DATA high<>+24(SB)/8, $0x0000000000000000
GLOBL high<>(SB), RODATA|NOPTR, $32

// func stringKernel(p *byte, n int) (at, extra int, wide uint64)
TEXT ·stringKernel(SB), NOSPLIT, $0-40
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX
	XORQ AX, AX                  // at
	XORQ DX, DX                  // extra
	XORQ R8, R8                  // wide
	XORQ R9, R9                  // 1: the block before ended in a backslash that escapes
	VMOVDQU quotes<>(SB), Y8
	VMOVDQU backslashes<>(SB), Y9
	VMOVDQU controls<>(SB), Y10
	VMOVDQU nibbles<>(SB), Y11
	VMOVDQU low<>(SB), Y12
	VMOVDQU high<>(SB), Y13
	VPXOR Y14, Y14, Y14

block:
	LEAQ 64(AX), BX
	CMPQ BX, CX
	JGT stop
	VMOVDQU (SI)(AX*1), Y0
	VMOVDQU 32(SI)(AX*1), Y1

	VPCMPEQB Y8, Y0, Y2          // R10: quotes
	VPMOVMSKB Y2, R10
	VPCMPEQB Y8, Y1, Y3
	VPMOVMSKB Y3, R11
	SHLQ $32, R11
	ORQ R11, R10

	VPMINUB Y10, Y0, Y2          // R13: control characters
	VPCMPEQB Y2, Y0, Y2
	VPMOVMSKB Y2, R13
	VPMINUB Y10, Y1, Y3
	VPCMPEQB Y3, Y1, Y3
	VPMOVMSKB Y3, R11
	SHLQ $32, R11
	ORQ R11, R13

	VPCMPEQB Y9, Y0, Y2          // R12: backslashes, then what they escape
	VPMOVMSKB Y2, R12
	VPCMPEQB Y9, Y1, Y3
	VPMOVMSKB Y3, R11
	SHLQ $32, R11
	ORQ R11, R12

	XORQ DI, DI                  // the next block's R9
	MOVQ R12, BX
	ORQ R9, BX
	JZ escaped

	MOVQ R9, R11
	NOTQ R11
	ANDQ R11, R12                // a backslash that is escaped itself escapes nothing
	MOVQ R12, BX
	SHLQ $1, BX
	ORQ R9, BX                   // BX: bytes behind a backslash
	MOVQ $0xaaaaaaaaaaaaaaaa, R11
	ANDQ R12, R11
	MOVQ BX, DI
	NOTQ DI
	ANDQ DI, R11                 // runs of backslashes that start on odd bits
	XORQ DI, DI
	ADDQ R12, R11                // runs that start on even bits stay, odd ones carry out
	ADCQ $0, DI
	SHLQ $1, R11
	MOVQ $0x5555555555555555, R12
	XORQ R11, R12
	ANDQ BX, R12

escaped:
	MOVQ R12, R11
	NOTQ R11
	ANDQ R11, R10                // quotes that close
	MOVQ $-1, BX                 // BX: bytes before the first of them
	TESTQ R10, R10
	JZ open
	BLSMSKQ R10, BX
	SHRQ $1, BX

open:
	TESTQ BX, R13
	JNZ stop
	ANDQ BX, R12
	JZ wide

	VPSRLW $4, Y0, Y2            // R11: bytes that may not be escaped
	VPAND Y11, Y2, Y2
	VPSHUFB Y2, Y13, Y2
	VPSHUFB Y0, Y12, Y3
	VPAND Y2, Y3, Y3
	VPCMPEQB Y14, Y3, Y3
	VPMOVMSKB Y3, R11
	VPSRLW $4, Y1, Y2
	VPAND Y11, Y2, Y2
	VPSHUFB Y2, Y13, Y2
	VPSHUFB Y1, Y12, Y3
	VPAND Y2, Y3, Y3
	VPCMPEQB Y14, Y3, Y3
	VPMOVMSKB Y3, R13
	SHLQ $32, R13
	ORQ R13, R11
	TESTQ R11, R12
	JNZ stop
	POPCNTQ R12, R11
	ADDQ R11, DX

wide:
	VPMOVMSKB Y0, R11
	VPMOVMSKB Y1, R13
	SHLQ $32, R13
	ORQ R13, R11
	ANDQ BX, R11
	ORQ R11, R8
	TESTQ R10, R10
	JNZ quote
	MOVQ DI, R9
	ADDQ $64, AX
	JMP block

quote:
	TZCNTQ R10, R11
	ADDQ R11, AX
	XORQ R9, R9

stop:
	SUBQ R9, AX                  // back onto a backslash whose letter was not read
	VZEROUPPER
	MOVQ AX, at+16(FP)
	MOVQ DX, extra+24(FP)
	MOVQ R8, wide+32(FP)
	RET

// func pairKernel(text *byte, n int, p Pair) (at int)
TEXT ·pairKernel(SB), NOSPLIT, $0-32
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), CX
	VPBROADCASTB p_A+16(FP), Y8
	VPBROADCASTB p_B+17(FP), Y9
	VPBROADCASTB p_MaskA+18(FP), Y10
	VPBROADCASTB p_MaskB+19(FP), Y11
	VPOR Y10, Y8, Y8
	VPOR Y11, Y9, Y9
	XORQ AX, AX                  // at

pairs:
	LEAQ 33(AX), BX
	CMPQ BX, CX
	JGT none
	VPOR (SI)(AX*1), Y10, Y0
	VPOR 1(SI)(AX*1), Y11, Y1
	VPCMPEQB Y8, Y0, Y0
	VPCMPEQB Y9, Y1, Y1
	VPAND Y0, Y1, Y1
	VPMOVMSKB Y1, BX
	TESTL BX, BX
	JNZ found
	ADDQ $32, AX
	JMP pairs

found:
	TZCNTL BX, BX
	ADDQ BX, AX

none:
	VZEROUPPER
	MOVQ AX, at+24(FP)
	RET

// func setKernel(text *byte, n int, in, plain *nibbles) (at int)
TEXT ·setKernel(SB), NOSPLIT, $0-40
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ in+16(FP), BX
	VBROADCASTI128 (BX), Y8
	VBROADCASTI128 16(BX), Y9
	MOVQ plain+24(FP), BX
	VBROADCASTI128 (BX), Y10
	VBROADCASTI128 16(BX), Y11
	VMOVDQU nibbles<>(SB), Y12
	VMOVDQU backslashes<>(SB), Y13
	VPXOR Y14, Y14, Y14
	XORQ AX, AX                  // at
	XORQ R9, R9                  // 1: the block before ended in a backslash

bytes:
	LEAQ 33(AX), BX
	CMPQ BX, CX
	JGT end
	VMOVDQU (SI)(AX*1), Y0
	VPAND Y12, Y0, Y1            // R10: bytes of the set
	VPSRLW $4, Y0, Y2
	VPAND Y12, Y2, Y2
	VPSHUFB Y1, Y8, Y1
	VPSHUFB Y2, Y9, Y2
	VPAND Y1, Y2, Y1
	VPCMPEQB Y14, Y1, Y1
	VPMOVMSKB Y1, R10
	NOTL R10
	TESTL R10, R10
	JNZ some
	XORQ R9, R9
	ADDQ $32, AX
	JMP bytes

some:
	VPCMPEQB Y13, Y0, Y3         // R11: backslashes
	VPMOVMSKB Y3, R11
	MOVL R11, DI                 // DI: those not behind another
	SHLL $1, DI
	ORL R9, DI
	NOTL DI
	ANDL R11, DI
	MOVL R11, R9
	SHRL $31, R9
	TESTL DI, DI
	JZ first
	VMOVDQU 1(SI)(AX*1), Y0      // R12: what may follow them
	VPAND Y12, Y0, Y1
	VPSRLW $4, Y0, Y2
	VPAND Y12, Y2, Y2
	VPSHUFB Y1, Y10, Y1
	VPSHUFB Y2, Y11, Y2
	VPAND Y1, Y2, Y1
	VPCMPEQB Y14, Y1, Y1
	VPMOVMSKB Y1, R12
	NOTL R12
	ANDL R12, DI
	NOTL DI
	ANDL DI, R10

first:
	TESTL R10, R10
	JNZ hit
	ADDQ $32, AX
	JMP bytes

hit:
	TZCNTL R10, R10
	ADDQ R10, AX

end:
	VZEROUPPER
	MOVQ AX, at+32(FP)
	RET

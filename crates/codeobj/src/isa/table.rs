//! Every operation of gfx942 and gfx950 as data: encoding, opcode, name and
//! operand widths. Numbers and operands are those of AMD's CDNA3 and CDNA4
//! instruction set documents.
//!
//! A row is `opcode NAME "results:sources"`, one letter an operand:
//! `i` 32 bits, `f` f32, `h` f16, `w` 16-bit integer, `P` two f16, `Q` two
//! 16-bit integers; `d` f64, `l` 64 bits, `x` two f32, `M` a mask of lanes;
//! `k` a 32-bit literal that always follows; digits and `A` 10, `C` 12, `G` 16,
//! `W` 32 count registers. `[N]` marks what only gfx950 has, `[O]` what only
//! gfx942 has, `[R]` a result that is also read.

use super::operand::Sig;

/// How an operation is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are those of the ISA documents")]
pub enum Family {
    Sop2,
    Sopk,
    Sop1,
    Sopc,
    Sopp,
    Smem,
    Vop2,
    Vop1,
    Vopc,
    Vop3,
    Vop3p,
    Ds,
    /// Opcodes that FLAT, GLOBAL, SCRATCH and MUBUF share.
    Vmem,
    Mubuf,
    Global,
}

/// Which architectures have an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// Both.
    Any,
    /// gfx942 alone.
    Gfx942,
    /// gfx950 alone.
    Gfx950,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The operation.
    pub op: Op,
    /// The name in capitals.
    pub upper: &'static str,
    /// The encoding.
    pub family: Family,
    /// The number in that encoding.
    pub code: u16,
    /// Operand widths and types.
    pub sig: Sig,
    /// Who has it.
    pub only: Only,
    /// The result is also a source.
    pub reads_result: bool,
}

macro_rules! only {
    () => {
        Only::Any
    };
    (N) => {
        Only::Gfx950
    };
    (O) => {
        Only::Gfx942
    };
    (R) => {
        Only::Any
    };
    (NR) => {
        Only::Gfx950
    };
}

macro_rules! reads {
    () => {
        false
    };
    (N) => {
        false
    };
    (O) => {
        false
    };
    (R) => {
        true
    };
    (NR) => {
        true
    };
}

macro_rules! operations {
    ($($family:ident { $($code:literal $name:ident $sig:literal $([$flag:ident])?;)* })*) => {
        /// An operation, under the name of the ISA documents.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(
            non_camel_case_types,
            missing_docs,
            reason = "the names are those of the ISA documents"
        )]
        #[repr(u16)]
        pub enum Op {
            $($($name,)*)*
        }

        /// The table, in the order of [`Op`].
        pub static OPERATIONS: &[Info] = &[
            $($(Info {
                op: Op::$name,
                upper: stringify!($name),
                family: Family::$family,
                code: $code,
                sig: Sig::parse($sig),
                only: only!($($flag)?),
                reads_result: reads!($($flag)?),
            },)*)*
        ];
    };
}

operations! {
Sop2 {
    0 S_ADD_U32 "i:ii"; 1 S_SUB_U32 "i:ii"; 2 S_ADD_I32 "i:ii"; 3 S_SUB_I32 "i:ii";
    4 S_ADDC_U32 "i:ii"; 5 S_SUBB_U32 "i:ii"; 6 S_MIN_I32 "i:ii"; 7 S_MIN_U32 "i:ii";
    8 S_MAX_I32 "i:ii"; 9 S_MAX_U32 "i:ii"; 10 S_CSELECT_B32 "i:ii"; 11 S_CSELECT_B64 "l:ll";
    12 S_AND_B32 "i:ii"; 13 S_AND_B64 "l:ll"; 14 S_OR_B32 "i:ii"; 15 S_OR_B64 "l:ll";
    16 S_XOR_B32 "i:ii"; 17 S_XOR_B64 "l:ll"; 18 S_ANDN2_B32 "i:ii"; 19 S_ANDN2_B64 "l:ll";
    20 S_ORN2_B32 "i:ii"; 21 S_ORN2_B64 "l:ll"; 22 S_NAND_B32 "i:ii"; 23 S_NAND_B64 "l:ll";
    24 S_NOR_B32 "i:ii"; 25 S_NOR_B64 "l:ll"; 26 S_XNOR_B32 "i:ii"; 27 S_XNOR_B64 "l:ll";
    28 S_LSHL_B32 "i:ii"; 29 S_LSHL_B64 "l:li"; 30 S_LSHR_B32 "i:ii"; 31 S_LSHR_B64 "l:li";
    32 S_ASHR_I32 "i:ii"; 33 S_ASHR_I64 "l:li"; 34 S_BFM_B32 "i:ii"; 35 S_BFM_B64 "l:ii";
    36 S_MUL_I32 "i:ii"; 37 S_BFE_U32 "i:ii"; 38 S_BFE_I32 "i:ii"; 39 S_BFE_U64 "l:li";
    40 S_BFE_I64 "l:li"; 41 S_CBRANCH_G_FORK ":ll"; 42 S_ABSDIFF_I32 "i:ii";
    43 S_RFE_RESTORE_B64 ":li"; 44 S_MUL_HI_U32 "i:ii"; 45 S_MUL_HI_I32 "i:ii";
    46 S_LSHL1_ADD_U32 "i:ii"; 47 S_LSHL2_ADD_U32 "i:ii"; 48 S_LSHL3_ADD_U32 "i:ii";
    49 S_LSHL4_ADD_U32 "i:ii"; 50 S_PACK_LL_B32_B16 "i:ii"; 51 S_PACK_LH_B32_B16 "i:ii";
    52 S_PACK_HH_B32_B16 "i:ii";
}
Sopk {
    0 S_MOVK_I32 "i:"; 1 S_CMOVK_I32 "i:" [R]; 2 S_CMPK_EQ_I32 ":i"; 3 S_CMPK_LG_I32 ":i";
    4 S_CMPK_GT_I32 ":i"; 5 S_CMPK_GE_I32 ":i"; 6 S_CMPK_LT_I32 ":i"; 7 S_CMPK_LE_I32 ":i";
    8 S_CMPK_EQ_U32 ":i"; 9 S_CMPK_LG_U32 ":i"; 10 S_CMPK_GT_U32 ":i"; 11 S_CMPK_GE_U32 ":i";
    12 S_CMPK_LT_U32 ":i"; 13 S_CMPK_LE_U32 ":i"; 14 S_ADDK_I32 "i:" [R]; 15 S_MULK_I32 "i:" [R];
    16 S_CBRANCH_I_FORK ":l"; 17 S_GETREG_B32 "i:"; 18 S_SETREG_B32 ":i";
    20 S_SETREG_IMM32_B32 ":k"; 21 S_CALL_B64 "l:";
}
Sop1 {
    0 S_MOV_B32 "i:i"; 1 S_MOV_B64 "l:l"; 2 S_CMOV_B32 "i:i" [R]; 3 S_CMOV_B64 "l:l" [R];
    4 S_NOT_B32 "i:i"; 5 S_NOT_B64 "l:l"; 6 S_WQM_B32 "i:i"; 7 S_WQM_B64 "l:l";
    8 S_BREV_B32 "i:i"; 9 S_BREV_B64 "l:l"; 10 S_BCNT0_I32_B32 "i:i"; 11 S_BCNT0_I32_B64 "i:l";
    12 S_BCNT1_I32_B32 "i:i"; 13 S_BCNT1_I32_B64 "i:l"; 14 S_FF0_I32_B32 "i:i";
    15 S_FF0_I32_B64 "i:l"; 16 S_FF1_I32_B32 "i:i"; 17 S_FF1_I32_B64 "i:l";
    18 S_FLBIT_I32_B32 "i:i"; 19 S_FLBIT_I32_B64 "i:l"; 20 S_FLBIT_I32 "i:i";
    21 S_FLBIT_I32_I64 "i:l"; 22 S_SEXT_I32_I8 "i:i"; 23 S_SEXT_I32_I16 "i:i";
    24 S_BITSET0_B32 "i:i" [R]; 25 S_BITSET0_B64 "l:i" [R]; 26 S_BITSET1_B32 "i:i" [R];
    27 S_BITSET1_B64 "l:i" [R]; 28 S_GETPC_B64 "l:"; 29 S_SETPC_B64 ":l"; 30 S_SWAPPC_B64 "l:l";
    31 S_RFE_B64 ":l"; 32 S_AND_SAVEEXEC_B64 "l:l"; 33 S_OR_SAVEEXEC_B64 "l:l";
    34 S_XOR_SAVEEXEC_B64 "l:l"; 35 S_ANDN2_SAVEEXEC_B64 "l:l"; 36 S_ORN2_SAVEEXEC_B64 "l:l";
    37 S_NAND_SAVEEXEC_B64 "l:l"; 38 S_NOR_SAVEEXEC_B64 "l:l"; 39 S_XNOR_SAVEEXEC_B64 "l:l";
    40 S_QUADMASK_B32 "i:i"; 41 S_QUADMASK_B64 "l:l"; 42 S_MOVRELS_B32 "i:i";
    43 S_MOVRELS_B64 "l:l"; 44 S_MOVRELD_B32 "i:i"; 45 S_MOVRELD_B64 "l:l"; 46 S_CBRANCH_JOIN ":i";
    48 S_ABS_I32 "i:i"; 50 S_SET_GPR_IDX_IDX ":i"; 51 S_ANDN1_SAVEEXEC_B64 "l:l";
    52 S_ORN1_SAVEEXEC_B64 "l:l"; 53 S_ANDN1_WREXEC_B64 "l:l"; 54 S_ANDN2_WREXEC_B64 "l:l";
    55 S_BITREPLICATE_B64_B32 "l:i";
}
Sopc {
    0 S_CMP_EQ_I32 ":ii"; 1 S_CMP_LG_I32 ":ii"; 2 S_CMP_GT_I32 ":ii"; 3 S_CMP_GE_I32 ":ii";
    4 S_CMP_LT_I32 ":ii"; 5 S_CMP_LE_I32 ":ii"; 6 S_CMP_EQ_U32 ":ii"; 7 S_CMP_LG_U32 ":ii";
    8 S_CMP_GT_U32 ":ii"; 9 S_CMP_GE_U32 ":ii"; 10 S_CMP_LT_U32 ":ii"; 11 S_CMP_LE_U32 ":ii";
    12 S_BITCMP0_B32 ":ii"; 13 S_BITCMP1_B32 ":ii"; 14 S_BITCMP0_B64 ":li"; 15 S_BITCMP1_B64 ":li";
    16 S_SETVSKIP ":ii"; 17 S_SET_GPR_IDX_ON ":ii"; 18 S_CMP_EQ_U64 ":ll"; 19 S_CMP_LG_U64 ":ll";
}
Sopp {
    0 S_NOP ":"; 1 S_ENDPGM ":"; 2 S_BRANCH ":"; 3 S_WAKEUP ":"; 4 S_CBRANCH_SCC0 ":";
    5 S_CBRANCH_SCC1 ":"; 6 S_CBRANCH_VCCZ ":"; 7 S_CBRANCH_VCCNZ ":"; 8 S_CBRANCH_EXECZ ":";
    9 S_CBRANCH_EXECNZ ":"; 10 S_BARRIER ":"; 11 S_SETKILL ":"; 12 S_WAITCNT ":"; 13 S_SETHALT ":";
    14 S_SLEEP ":"; 15 S_SETPRIO ":"; 16 S_SENDMSG ":"; 17 S_SENDMSGHALT ":"; 18 S_TRAP ":";
    19 S_ICACHE_INV ":"; 20 S_INCPERFLEVEL ":"; 21 S_DECPERFLEVEL ":"; 22 S_TTRACEDATA ":";
    23 S_CBRANCH_CDBGSYS ":"; 24 S_CBRANCH_CDBGUSER ":"; 25 S_CBRANCH_CDBGSYS_OR_USER ":";
    26 S_CBRANCH_CDBGSYS_AND_USER ":"; 27 S_ENDPGM_SAVED ":"; 28 S_SET_GPR_IDX_OFF ":";
    29 S_SET_GPR_IDX_MODE ":"; 30 S_ENDPGM_ORDERED_PS_DONE ":";
}
Smem {
    0 S_LOAD_DWORD "1:"; 1 S_LOAD_DWORDX2 "2:"; 2 S_LOAD_DWORDX4 "4:"; 3 S_LOAD_DWORDX8 "8:";
    4 S_LOAD_DWORDX16 "G:"; 5 S_SCRATCH_LOAD_DWORD "1:"; 6 S_SCRATCH_LOAD_DWORDX2 "2:";
    7 S_SCRATCH_LOAD_DWORDX4 "4:"; 8 S_BUFFER_LOAD_DWORD "1:"; 9 S_BUFFER_LOAD_DWORDX2 "2:";
    10 S_BUFFER_LOAD_DWORDX4 "4:"; 11 S_BUFFER_LOAD_DWORDX8 "8:"; 12 S_BUFFER_LOAD_DWORDX16 "G:";
    16 S_STORE_DWORD ":1"; 17 S_STORE_DWORDX2 ":2"; 18 S_STORE_DWORDX4 ":4";
    21 S_SCRATCH_STORE_DWORD ":1"; 22 S_SCRATCH_STORE_DWORDX2 ":2"; 23 S_SCRATCH_STORE_DWORDX4 ":4";
    24 S_BUFFER_STORE_DWORD ":1"; 25 S_BUFFER_STORE_DWORDX2 ":2"; 26 S_BUFFER_STORE_DWORDX4 ":4";
    32 S_DCACHE_INV ":"; 33 S_DCACHE_WB ":"; 34 S_DCACHE_INV_VOL ":"; 35 S_DCACHE_WB_VOL ":";
    36 S_MEMTIME "2:"; 37 S_MEMREALTIME "2:"; 40 S_DCACHE_DISCARD ":"; 41 S_DCACHE_DISCARD_X2 ":";
}
Vop2 {
    0 V_CNDMASK_B32 "i:iiM"; 1 V_ADD_F32 "f:ff"; 2 V_SUB_F32 "f:ff"; 3 V_SUBREV_F32 "f:ff";
    4 V_FMAC_F64 "d:dd" [R]; 5 V_MUL_F32 "f:ff"; 6 V_MUL_I32_I24 "i:ii"; 7 V_MUL_HI_I32_I24 "i:ii";
    8 V_MUL_U32_U24 "i:ii"; 9 V_MUL_HI_U32_U24 "i:ii"; 10 V_MIN_F32 "f:ff"; 11 V_MAX_F32 "f:ff";
    12 V_MIN_I32 "i:ii"; 13 V_MAX_I32 "i:ii"; 14 V_MIN_U32 "i:ii"; 15 V_MAX_U32 "i:ii";
    16 V_LSHRREV_B32 "i:ii"; 17 V_ASHRREV_I32 "i:ii"; 18 V_LSHLREV_B32 "i:ii"; 19 V_AND_B32 "i:ii";
    20 V_OR_B32 "i:ii"; 21 V_XOR_B32 "i:ii"; 22 V_DOT2C_F32_BF16 "f:ii" [NR];
    23 V_FMAMK_F32 "f:fkf"; 24 V_FMAAK_F32 "f:ffk"; 25 V_ADD_CO_U32 "iM:ii"; 26 V_SUB_CO_U32 "iM:ii";
    27 V_SUBREV_CO_U32 "iM:ii"; 28 V_ADDC_CO_U32 "iM:iiM"; 29 V_SUBB_CO_U32 "iM:iiM";
    30 V_SUBBREV_CO_U32 "iM:iiM"; 31 V_ADD_F16 "h:hh"; 32 V_SUB_F16 "h:hh"; 33 V_SUBREV_F16 "h:hh";
    34 V_MUL_F16 "h:hh"; 35 V_MAC_F16 "h:hh" [R]; 36 V_MADMK_F16 "h:hkh"; 37 V_MADAK_F16 "h:hhk";
    38 V_ADD_U16 "w:ww"; 39 V_SUB_U16 "w:ww"; 40 V_SUBREV_U16 "w:ww"; 41 V_MUL_LO_U16 "w:ww";
    42 V_LSHLREV_B16 "w:ww"; 43 V_LSHRREV_B16 "w:ww"; 44 V_ASHRREV_I16 "w:ww"; 45 V_MAX_F16 "h:hh";
    46 V_MIN_F16 "h:hh"; 47 V_MAX_U16 "w:ww"; 48 V_MAX_I16 "w:ww"; 49 V_MIN_U16 "w:ww";
    50 V_MIN_I16 "w:ww"; 51 V_LDEXP_F16 "h:hw"; 52 V_ADD_U32 "i:ii"; 53 V_SUB_U32 "i:ii";
    54 V_SUBREV_U32 "i:ii"; 55 V_DOT2C_F32_F16 "f:PP" [R]; 56 V_DOT2C_I32_I16 "i:QQ" [R];
    57 V_DOT4C_I32_I8 "i:ii" [R]; 58 V_DOT8C_I32_I4 "i:ii" [R]; 59 V_FMAC_F32 "f:ff" [R];
    60 V_PK_FMAC_F16 "P:PP" [R]; 61 V_XNOR_B32 "i:ii";
}
Vop1 {
    0 V_NOP ":"; 1 V_MOV_B32 "i:i"; 2 V_READFIRSTLANE_B32 "i:i"; 3 V_CVT_I32_F64 "i:d";
    4 V_CVT_F64_I32 "d:i"; 5 V_CVT_F32_I32 "f:i"; 6 V_CVT_F32_U32 "f:i"; 7 V_CVT_U32_F32 "i:f";
    8 V_CVT_I32_F32 "i:f"; 10 V_CVT_F16_F32 "h:f"; 11 V_CVT_F32_F16 "f:h";
    12 V_CVT_RPI_I32_F32 "i:f"; 13 V_CVT_FLR_I32_F32 "i:f"; 14 V_CVT_OFF_F32_I4 "f:i";
    15 V_CVT_F32_F64 "f:d"; 16 V_CVT_F64_F32 "d:f"; 17 V_CVT_F32_UBYTE0 "f:i";
    18 V_CVT_F32_UBYTE1 "f:i"; 19 V_CVT_F32_UBYTE2 "f:i"; 20 V_CVT_F32_UBYTE3 "f:i";
    21 V_CVT_U32_F64 "i:d"; 22 V_CVT_F64_U32 "d:i"; 23 V_TRUNC_F64 "d:d"; 24 V_CEIL_F64 "d:d";
    25 V_RNDNE_F64 "d:d"; 26 V_FLOOR_F64 "d:d"; 27 V_FRACT_F32 "f:f"; 28 V_TRUNC_F32 "f:f";
    29 V_CEIL_F32 "f:f"; 30 V_RNDNE_F32 "f:f"; 31 V_FLOOR_F32 "f:f"; 32 V_EXP_F32 "f:f";
    33 V_LOG_F32 "f:f"; 34 V_RCP_F32 "f:f"; 35 V_RCP_IFLAG_F32 "f:f"; 36 V_RSQ_F32 "f:f";
    37 V_RCP_F64 "d:d"; 38 V_RSQ_F64 "d:d"; 39 V_SQRT_F32 "f:f"; 40 V_SQRT_F64 "d:d";
    41 V_SIN_F32 "f:f"; 42 V_COS_F32 "f:f"; 43 V_NOT_B32 "i:i"; 44 V_BFREV_B32 "i:i";
    45 V_FFBH_U32 "i:i"; 46 V_FFBL_B32 "i:i"; 47 V_FFBH_I32 "i:i"; 48 V_FREXP_EXP_I32_F64 "i:d";
    49 V_FREXP_MANT_F64 "d:d"; 50 V_FRACT_F64 "d:d"; 51 V_FREXP_EXP_I32_F32 "i:f";
    52 V_FREXP_MANT_F32 "f:f"; 53 V_CLREXCP ":"; 55 V_SCREEN_PARTITION_4SE_B32 "i:i";
    56 V_MOV_B64 "l:l"; 57 V_CVT_F16_U16 "h:w"; 58 V_CVT_F16_I16 "h:w"; 59 V_CVT_U16_F16 "w:h";
    60 V_CVT_I16_F16 "w:h"; 61 V_RCP_F16 "h:h"; 62 V_SQRT_F16 "h:h"; 63 V_RSQ_F16 "h:h";
    64 V_LOG_F16 "h:h"; 65 V_EXP_F16 "h:h"; 66 V_FREXP_MANT_F16 "h:h"; 67 V_FREXP_EXP_I16_F16 "w:h";
    68 V_FLOOR_F16 "h:h"; 69 V_CEIL_F16 "h:h"; 70 V_TRUNC_F16 "h:h"; 71 V_RNDNE_F16 "h:h";
    72 V_FRACT_F16 "h:h"; 73 V_SIN_F16 "h:h"; 74 V_COS_F16 "h:h"; 75 V_EXP_LEGACY_F32 "f:f";
    76 V_LOG_LEGACY_F32 "f:f"; 77 V_CVT_NORM_I16_F16 "w:h"; 78 V_CVT_NORM_U16_F16 "w:h";
    79 V_SAT_PK_U8_I16 "i:i"; 81 V_SWAP_B32 "i:i" [R]; 82 V_ACCVGPR_MOV_B32 "i:i";
    84 V_CVT_F32_FP8 "f:i"; 85 V_CVT_F32_BF8 "f:i"; 86 V_CVT_PK_F32_FP8 "x:i";
    87 V_CVT_PK_F32_BF8 "x:i"; 88 V_PRNG_B32 "i:i" [N]; 89 V_PERMLANE16_SWAP_B32 "i:i" [NR];
    90 V_PERMLANE32_SWAP_B32 "i:i" [NR]; 91 V_CVT_F32_BF16 "f:w" [N];
}
Vopc { 0 V_CMP "M:ii"; 1 V_CMPX "M:ii"; 2 V_CMP_CLASS "M:ii"; 3 V_CMPX_CLASS "M:ii"; }
Vop3 {
    450 V_MAD_I32_I24 "i:iii"; 451 V_MAD_U32_U24 "i:iii"; 452 V_CUBEID_F32 "f:fff";
    453 V_CUBESC_F32 "f:fff"; 454 V_CUBETC_F32 "f:fff"; 455 V_CUBEMA_F32 "f:fff";
    456 V_BFE_U32 "i:iii"; 457 V_BFE_I32 "i:iii"; 458 V_BFI_B32 "i:iii"; 459 V_FMA_F32 "f:fff";
    460 V_FMA_F64 "d:ddd"; 461 V_LERP_U8 "i:iii"; 462 V_ALIGNBIT_B32 "i:iii";
    463 V_ALIGNBYTE_B32 "i:iii"; 464 V_MIN3_F32 "f:fff"; 465 V_MIN3_I32 "i:iii";
    466 V_MIN3_U32 "i:iii"; 467 V_MAX3_F32 "f:fff"; 468 V_MAX3_I32 "i:iii"; 469 V_MAX3_U32 "i:iii";
    470 V_MED3_F32 "f:fff"; 471 V_MED3_I32 "i:iii"; 472 V_MED3_U32 "i:iii"; 473 V_SAD_U8 "i:iii";
    474 V_SAD_HI_U8 "i:iii"; 475 V_SAD_U16 "i:iii"; 476 V_SAD_U32 "i:iii";
    477 V_CVT_PK_U8_F32 "i:fii"; 478 V_DIV_FIXUP_F32 "f:fff"; 479 V_DIV_FIXUP_F64 "d:ddd";
    480 V_DIV_SCALE_F32 "fM:fff"; 481 V_DIV_SCALE_F64 "dM:ddd"; 482 V_DIV_FMAS_F32 "f:fff";
    483 V_DIV_FMAS_F64 "d:ddd"; 484 V_MSAD_U8 "i:iii"; 485 V_QSAD_PK_U16_U8 "l:lil";
    486 V_MQSAD_PK_U16_U8 "l:lil"; 487 V_MQSAD_U32_U8 "4:li4"; 488 V_MAD_U64_U32 "lM:iil";
    489 V_MAD_I64_I32 "lM:iil"; 490 V_MAD_LEGACY_F16 "h:hhh"; 491 V_MAD_LEGACY_U16 "w:www";
    492 V_MAD_LEGACY_I16 "w:www"; 493 V_PERM_B32 "i:iii"; 494 V_FMA_LEGACY_F16 "h:hhh";
    495 V_DIV_FIXUP_LEGACY_F16 "h:hhh"; 496 V_CVT_PKACCUM_U8_F32 "i:fi" [R];
    497 V_MAD_U32_U16 "i:wwi"; 498 V_MAD_I32_I16 "i:wwi"; 499 V_XAD_U32 "i:iii";
    500 V_MIN3_F16 "h:hhh"; 501 V_MIN3_I16 "w:www"; 502 V_MIN3_U16 "w:www"; 503 V_MAX3_F16 "h:hhh";
    504 V_MAX3_I16 "w:www"; 505 V_MAX3_U16 "w:www"; 506 V_MED3_F16 "h:hhh"; 507 V_MED3_I16 "w:www";
    508 V_MED3_U16 "w:www"; 509 V_LSHL_ADD_U32 "i:iii"; 510 V_ADD_LSHL_U32 "i:iii";
    511 V_ADD3_U32 "i:iii"; 512 V_LSHL_OR_B32 "i:iii"; 513 V_AND_OR_B32 "i:iii"; 514 V_OR3_B32 "i:iii";
    515 V_MAD_F16 "h:hhh"; 516 V_MAD_U16 "w:www"; 517 V_MAD_I16 "w:www"; 518 V_FMA_F16 "h:hhh";
    519 V_DIV_FIXUP_F16 "h:hhh"; 520 V_LSHL_ADD_U64 "l:lil"; 563 V_BITOP3_B16 "w:www" [NR];
    564 V_BITOP3_B32 "i:iii" [N]; 565 V_CVT_SCALEF32_PK_FP8_F32 "i:fff" [NR];
    566 V_CVT_SCALEF32_PK_BF8_F32 "i:fff" [NR]; 567 V_CVT_SCALEF32_SR_FP8_F32 "i:fif" [NR];
    568 V_CVT_SCALEF32_SR_BF8_F32 "i:fif" [NR]; 569 V_CVT_SCALEF32_PK_F32_FP8 "x:if" [N];
    570 V_CVT_SCALEF32_PK_F32_BF8 "x:if" [N]; 571 V_CVT_SCALEF32_F32_FP8 "f:if" [N];
    572 V_CVT_SCALEF32_F32_BF8 "f:if" [N]; 573 V_CVT_SCALEF32_PK_FP4_F32 "i:fff" [NR];
    574 V_CVT_SCALEF32_SR_PK_FP4_F32 "i:xif" [NR]; 575 V_CVT_SCALEF32_PK_F32_FP4 "x:if" [N];
    576 V_CVT_SCALEF32_PK_FP8_F16 "i:Pf" [NR]; 577 V_CVT_SCALEF32_PK_BF8_F16 "i:Pf" [NR];
    578 V_CVT_SCALEF32_SR_FP8_F16 "i:hif" [NR]; 579 V_CVT_SCALEF32_SR_BF8_F16 "i:hif" [NR];
    580 V_CVT_SCALEF32_PK_FP8_BF16 "i:Qf" [NR]; 581 V_CVT_SCALEF32_PK_BF8_BF16 "i:Qf" [NR];
    582 V_CVT_SCALEF32_SR_FP8_BF16 "i:wif" [NR]; 583 V_CVT_SCALEF32_SR_BF8_BF16 "i:wif" [NR];
    584 V_CVT_SCALEF32_PK_F16_FP8 "P:if" [N]; 585 V_CVT_SCALEF32_PK_F16_BF8 "P:if" [N];
    586 V_CVT_SCALEF32_F16_FP8 "h:if" [NR]; 587 V_CVT_SCALEF32_F16_BF8 "h:if" [NR];
    588 V_CVT_SCALEF32_PK_FP4_F16 "i:Pf" [NR]; 589 V_CVT_SCALEF32_PK_FP4_BF16 "i:Qf" [NR];
    590 V_CVT_SCALEF32_SR_PK_FP4_F16 "i:Pif" [NR]; 591 V_CVT_SCALEF32_SR_PK_FP4_BF16 "i:Qif" [NR];
    592 V_CVT_SCALEF32_PK_F16_FP4 "P:if" [N]; 593 V_CVT_SCALEF32_PK_BF16_FP4 "Q:if" [N];
    594 V_CVT_SCALEF32_2XPK16_FP6_F32 "6:GGf" [N]; 595 V_CVT_SCALEF32_2XPK16_BF6_F32 "6:GGf" [N];
    596 V_CVT_SCALEF32_SR_PK32_FP6_F32 "6:Wif" [N]; 597 V_CVT_SCALEF32_SR_PK32_BF6_F32 "6:Wif" [N];
    598 V_CVT_SCALEF32_PK32_F32_FP6 "W:6f" [N]; 599 V_CVT_SCALEF32_PK32_F32_BF6 "W:6f" [N];
    600 V_CVT_SCALEF32_PK32_FP6_F16 "6:Gf" [N]; 601 V_CVT_SCALEF32_PK32_FP6_BF16 "6:Gf" [N];
    602 V_CVT_SCALEF32_PK32_BF6_F16 "6:Gf" [N]; 603 V_CVT_SCALEF32_PK32_BF6_BF16 "6:Gf" [N];
    604 V_CVT_SCALEF32_SR_PK32_FP6_F16 "6:Gif" [N]; 605 V_CVT_SCALEF32_SR_PK32_FP6_BF16 "6:Gif" [N];
    606 V_CVT_SCALEF32_SR_PK32_BF6_F16 "6:Gif" [N]; 607 V_CVT_SCALEF32_SR_PK32_BF6_BF16 "6:Gif" [N];
    608 V_CVT_SCALEF32_PK32_F16_FP6 "G:6f" [N]; 609 V_CVT_SCALEF32_PK32_BF16_FP6 "G:6f" [N];
    610 V_CVT_SCALEF32_PK32_F16_BF6 "G:6f" [N]; 611 V_CVT_SCALEF32_PK32_BF16_BF6 "G:6f" [N];
    613 V_ASHR_PK_I8_I32 "i:iii" [NR]; 614 V_ASHR_PK_U8_I32 "i:iii" [NR];
    615 V_CVT_PK_F16_F32 "P:ff" [N]; 616 V_CVT_PK_BF16_F32 "Q:ff" [N];
    617 V_CVT_SCALEF32_PK_BF16_FP8 "Q:if" [N]; 618 V_CVT_SCALEF32_PK_BF16_BF8 "Q:if" [N];
    640 V_ADD_F64 "d:dd"; 641 V_MUL_F64 "d:dd"; 642 V_MIN_F64 "d:dd"; 643 V_MAX_F64 "d:dd";
    644 V_LDEXP_F64 "d:di"; 645 V_MUL_LO_U32 "i:ii"; 646 V_MUL_HI_U32 "i:ii"; 647 V_MUL_HI_I32 "i:ii";
    648 V_LDEXP_F32 "f:fi"; 649 V_READLANE_B32 "i:ii"; 650 V_WRITELANE_B32 "i:ii" [R];
    651 V_BCNT_U32_B32 "i:ii"; 652 V_MBCNT_LO_U32_B32 "i:ii"; 653 V_MBCNT_HI_U32_B32 "i:ii";
    655 V_LSHLREV_B64 "l:il"; 656 V_LSHRREV_B64 "l:il"; 657 V_ASHRREV_I64 "l:il";
    658 V_TRIG_PREOP_F64 "d:di"; 659 V_BFM_B32 "i:ii"; 660 V_CVT_PKNORM_I16_F32 "i:ff";
    661 V_CVT_PKNORM_U16_F32 "i:ff"; 662 V_CVT_PKRTZ_F16_F32 "P:ff"; 663 V_CVT_PK_U16_U32 "i:ii";
    664 V_CVT_PK_I16_I32 "i:ii"; 665 V_CVT_PKNORM_I16_F16 "i:hh"; 666 V_CVT_PKNORM_U16_F16 "i:hh";
    668 V_ADD_I32 "i:ii"; 669 V_SUB_I32 "i:ii"; 670 V_ADD_I16 "w:ww"; 671 V_SUB_I16 "w:ww";
    672 V_PACK_B32_F16 "P:hh"; 673 V_MUL_LEGACY_F32 "f:ff"; 674 V_CVT_PK_FP8_F32 "i:ff" [R];
    675 V_CVT_PK_BF8_F32 "i:ff" [R]; 676 V_CVT_SR_FP8_F32 "i:fi" [R]; 677 V_CVT_SR_BF8_F32 "i:fi" [R];
    678 V_CVT_SR_F16_F32 "h:fi" [NR]; 679 V_CVT_SR_BF16_F32 "w:fi" [NR];
    680 V_MINIMUM3_F32 "f:fff" [N]; 681 V_MAXIMUM3_F32 "f:fff" [N];
}
Vop3p {
    0 V_PK_MAD_I16 "Q:QQQ"; 1 V_PK_MUL_LO_U16 "Q:QQ"; 2 V_PK_ADD_I16 "Q:QQ"; 3 V_PK_SUB_I16 "Q:QQ";
    4 V_PK_LSHLREV_B16 "Q:QQ"; 5 V_PK_LSHRREV_B16 "Q:QQ"; 6 V_PK_ASHRREV_I16 "Q:QQ";
    7 V_PK_MAX_I16 "Q:QQ"; 8 V_PK_MIN_I16 "Q:QQ"; 9 V_PK_MAD_U16 "Q:QQQ"; 10 V_PK_ADD_U16 "Q:QQ";
    11 V_PK_SUB_U16 "Q:QQ"; 12 V_PK_MAX_U16 "Q:QQ"; 13 V_PK_MIN_U16 "Q:QQ"; 14 V_PK_FMA_F16 "P:PPP";
    15 V_PK_ADD_F16 "P:PP"; 16 V_PK_MUL_F16 "P:PP"; 17 V_PK_MIN_F16 "P:PP"; 18 V_PK_MAX_F16 "P:PP";
    26 V_DOT2_F32_BF16 "f:iif" [N]; 27 V_PK_MINIMUM3_F16 "P:PPP" [N]; 28 V_PK_MAXIMUM3_F16 "P:PPP" [N];
    32 V_FMA_MIX_F32 "f:fff"; 33 V_FMA_MIXLO_F16 "h:fff" [R]; 34 V_FMA_MIXHI_F16 "h:fff" [R];
    35 V_DOT2_F32_F16 "f:PPf"; 38 V_DOT2_I32_I16 "i:QQi"; 39 V_DOT2_U32_U16 "i:QQi";
    40 V_DOT4_I32_I8 "i:iii"; 41 V_DOT4_U32_U8 "i:iii"; 42 V_DOT8_I32_I4 "i:iii";
    43 V_DOT8_U32_U4 "i:iii"; 44 V_MFMA_LD_SCALE_B32 ":ii" [N];
    45 V_MFMA_F32_16X16X128_F8F6F4 "4:884" [N]; 46 V_MFMA_F32_32X32X64_F8F6F4 "G:88G" [N];
    48 V_PK_FMA_F32 "x:xxx"; 49 V_PK_MUL_F32 "x:xx"; 50 V_PK_ADD_F32 "x:xx"; 51 V_PK_MOV_B32 "l:ll";
    53 V_MFMA_F32_16X16X32_BF16 "4:444" [N]; 54 V_MFMA_I32_16X16X64_I8 "4:444" [N];
    55 V_MFMA_F32_32X32X16_BF16 "G:44G" [N]; 56 V_MFMA_I32_32X32X32_I8 "G:44G" [N];
    57 V_SMFMAC_F32_16X16X64_BF16 "4:48i" [NR]; 58 V_SMFMAC_I32_16X16X128_I8 "4:48i" [NR];
    59 V_SMFMAC_F32_16X16X128_BF8_BF8 "4:48i" [NR]; 60 V_SMFMAC_F32_16X16X128_BF8_FP8 "4:48i" [NR];
    61 V_SMFMAC_F32_16X16X128_FP8_BF8 "4:48i" [NR]; 62 V_MFMA_F32_16X16X8_XF32 "4:224" [O];
    63 V_MFMA_F32_32X32X4_XF32 "G:22G" [O]; 64 V_MFMA_F32_32X32X1_2B_F32 "W:11W";
    65 V_MFMA_F32_16X16X1_4B_F32 "G:11G"; 66 V_MFMA_F32_4X4X1_16B_F32 "4:114";
    67 V_SMFMAC_F32_16X16X128_FP8_FP8 "4:48i" [NR]; 68 V_MFMA_F32_32X32X2_F32 "G:11G";
    69 V_MFMA_F32_16X16X4_F32 "4:114"; 70 V_SMFMAC_F32_32X32X32_BF16 "G:48i" [NR];
    71 V_SMFMAC_I32_32X32X64_I8 "G:48i" [NR]; 72 V_MFMA_F32_32X32X4_2B_F16 "W:22W";
    73 V_MFMA_F32_16X16X4_4B_F16 "G:22G"; 74 V_MFMA_F32_4X4X4_16B_F16 "4:224";
    75 V_SMFMAC_F32_32X32X64_BF8_BF8 "G:48i" [NR]; 76 V_MFMA_F32_32X32X8_F16 "G:22G";
    77 V_MFMA_F32_16X16X16_F16 "4:224"; 78 V_SMFMAC_F32_32X32X64_BF8_FP8 "G:48i" [NR];
    79 V_SMFMAC_F32_32X32X64_FP8_BF8 "G:48i" [NR]; 80 V_MFMA_I32_32X32X4_2B_I8 "W:11W";
    81 V_MFMA_I32_16X16X4_4B_I8 "G:11G"; 82 V_MFMA_I32_4X4X4_16B_I8 "4:114";
    83 V_SMFMAC_F32_32X32X64_FP8_FP8 "G:48i" [NR]; 84 V_MFMA_F32_16X16X32_F16 "4:444" [N];
    85 V_MFMA_F32_32X32X16_F16 "G:44G" [N]; 86 V_MFMA_I32_32X32X16_I8 "G:22G";
    87 V_MFMA_I32_16X16X32_I8 "4:224"; 88 V_ACCVGPR_READ_B32 "i:i"; 89 V_ACCVGPR_WRITE_B32 "i:i";
    90 V_SMFMAC_F32_16X16X64_F16 "4:48i" [NR]; 91 V_SMFMAC_F32_32X32X32_F16 "G:48i" [NR];
    93 V_MFMA_F32_32X32X4_2B_BF16 "W:22W"; 94 V_MFMA_F32_16X16X4_4B_BF16 "G:22G";
    95 V_MFMA_F32_4X4X4_16B_BF16 "4:224"; 96 V_MFMA_F32_32X32X8_BF16 "G:22G";
    97 V_MFMA_F32_16X16X16_BF16 "4:224"; 98 V_SMFMAC_F32_16X16X32_F16 "4:24i" [R];
    100 V_SMFMAC_F32_32X32X16_F16 "G:24i" [R]; 102 V_SMFMAC_F32_16X16X32_BF16 "4:24i" [R];
    104 V_SMFMAC_F32_32X32X16_BF16 "G:24i" [R]; 106 V_SMFMAC_I32_16X16X64_I8 "4:24i" [R];
    108 V_SMFMAC_I32_32X32X32_I8 "G:24i" [R]; 110 V_MFMA_F64_16X16X4_F64 "8:228";
    111 V_MFMA_F64_4X4X4_4B_F64 "2:222"; 112 V_MFMA_F32_16X16X32_BF8_BF8 "4:224";
    113 V_MFMA_F32_16X16X32_BF8_FP8 "4:224"; 114 V_MFMA_F32_16X16X32_FP8_BF8 "4:224";
    115 V_MFMA_F32_16X16X32_FP8_FP8 "4:224"; 116 V_MFMA_F32_32X32X16_BF8_BF8 "G:22G";
    117 V_MFMA_F32_32X32X16_BF8_FP8 "G:22G"; 118 V_MFMA_F32_32X32X16_FP8_BF8 "G:22G";
    119 V_MFMA_F32_32X32X16_FP8_FP8 "G:22G"; 120 V_SMFMAC_F32_16X16X64_BF8_BF8 "4:24i" [R];
    121 V_SMFMAC_F32_16X16X64_BF8_FP8 "4:24i" [R]; 122 V_SMFMAC_F32_16X16X64_FP8_BF8 "4:24i" [R];
    123 V_SMFMAC_F32_16X16X64_FP8_FP8 "4:24i" [R]; 124 V_SMFMAC_F32_32X32X32_BF8_BF8 "G:24i" [R];
    125 V_SMFMAC_F32_32X32X32_BF8_FP8 "G:24i" [R]; 126 V_SMFMAC_F32_32X32X32_FP8_BF8 "G:24i" [R];
    127 V_SMFMAC_F32_32X32X32_FP8_FP8 "G:24i" [R];
}
Ds {
    0 DS_ADD_U32 ":i1"; 1 DS_SUB_U32 ":i1"; 2 DS_RSUB_U32 ":i1"; 3 DS_INC_U32 ":i1"; 4 DS_DEC_U32 ":i1";
    5 DS_MIN_I32 ":i1"; 6 DS_MAX_I32 ":i1"; 7 DS_MIN_U32 ":i1"; 8 DS_MAX_U32 ":i1"; 9 DS_AND_B32 ":i1";
    10 DS_OR_B32 ":i1"; 11 DS_XOR_B32 ":i1"; 12 DS_MSKOR_B32 ":i11"; 13 DS_WRITE_B32 ":i1";
    14 DS_WRITE2_B32 ":i11"; 15 DS_WRITE2ST64_B32 ":i11"; 16 DS_CMPST_B32 ":i11"; 17 DS_CMPST_F32 ":i11";
    18 DS_MIN_F32 ":i1"; 19 DS_MAX_F32 ":i1"; 20 DS_NOP ":"; 21 DS_ADD_F32 ":i1"; 23 DS_PK_ADD_F16 ":i1";
    24 DS_PK_ADD_BF16 ":i1"; 29 DS_WRITE_ADDTID_B32 ":1"; 30 DS_WRITE_B8 ":i1"; 31 DS_WRITE_B16 ":i1";
    32 DS_ADD_RTN_U32 "1:i1"; 33 DS_SUB_RTN_U32 "1:i1"; 34 DS_RSUB_RTN_U32 "1:i1"; 35 DS_INC_RTN_U32 "1:i1";
    36 DS_DEC_RTN_U32 "1:i1"; 37 DS_MIN_RTN_I32 "1:i1"; 38 DS_MAX_RTN_I32 "1:i1"; 39 DS_MIN_RTN_U32 "1:i1";
    40 DS_MAX_RTN_U32 "1:i1"; 41 DS_AND_RTN_B32 "1:i1"; 42 DS_OR_RTN_B32 "1:i1"; 43 DS_XOR_RTN_B32 "1:i1";
    44 DS_MSKOR_RTN_B32 "1:i11"; 45 DS_WRXCHG_RTN_B32 "1:i1"; 46 DS_WRXCHG2_RTN_B32 "2:i11";
    47 DS_WRXCHG2ST64_RTN_B32 "2:i11"; 48 DS_CMPST_RTN_B32 "1:i11"; 49 DS_CMPST_RTN_F32 "1:i11";
    50 DS_MIN_RTN_F32 "1:i1"; 51 DS_MAX_RTN_F32 "1:i1"; 52 DS_WRAP_RTN_B32 "1:i11"; 53 DS_ADD_RTN_F32 "1:i1";
    54 DS_READ_B32 "1:i"; 55 DS_READ2_B32 "2:i"; 56 DS_READ2ST64_B32 "2:i"; 57 DS_READ_I8 "1:i";
    58 DS_READ_U8 "1:i"; 59 DS_READ_I16 "1:i"; 60 DS_READ_U16 "1:i"; 61 DS_SWIZZLE_B32 "1:i";
    62 DS_PERMUTE_B32 "1:i1"; 63 DS_BPERMUTE_B32 "1:i1"; 64 DS_ADD_U64 ":i2"; 65 DS_SUB_U64 ":i2";
    66 DS_RSUB_U64 ":i2"; 67 DS_INC_U64 ":i2"; 68 DS_DEC_U64 ":i2"; 69 DS_MIN_I64 ":i2"; 70 DS_MAX_I64 ":i2";
    71 DS_MIN_U64 ":i2"; 72 DS_MAX_U64 ":i2"; 73 DS_AND_B64 ":i2"; 74 DS_OR_B64 ":i2"; 75 DS_XOR_B64 ":i2";
    76 DS_MSKOR_B64 ":i22"; 77 DS_WRITE_B64 ":i2"; 78 DS_WRITE2_B64 ":i22"; 79 DS_WRITE2ST64_B64 ":i22";
    80 DS_CMPST_B64 ":i22"; 81 DS_CMPST_F64 ":i22"; 82 DS_MIN_F64 ":i2"; 83 DS_MAX_F64 ":i2";
    84 DS_WRITE_B8_D16_HI ":i1"; 85 DS_WRITE_B16_D16_HI ":i1"; 86 DS_READ_U8_D16 "1:i" [R];
    87 DS_READ_U8_D16_HI "1:i" [R]; 88 DS_READ_I8_D16 "1:i" [R]; 89 DS_READ_I8_D16_HI "1:i" [R];
    90 DS_READ_U16_D16 "1:i" [R]; 91 DS_READ_U16_D16_HI "1:i" [R]; 92 DS_ADD_F64 ":i2";
    96 DS_ADD_RTN_U64 "2:i2"; 97 DS_SUB_RTN_U64 "2:i2"; 98 DS_RSUB_RTN_U64 "2:i2"; 99 DS_INC_RTN_U64 "2:i2";
    100 DS_DEC_RTN_U64 "2:i2"; 101 DS_MIN_RTN_I64 "2:i2"; 102 DS_MAX_RTN_I64 "2:i2"; 103 DS_MIN_RTN_U64 "2:i2";
    104 DS_MAX_RTN_U64 "2:i2"; 105 DS_AND_RTN_B64 "2:i2"; 106 DS_OR_RTN_B64 "2:i2"; 107 DS_XOR_RTN_B64 "2:i2";
    108 DS_MSKOR_RTN_B64 "2:i22"; 109 DS_WRXCHG_RTN_B64 "2:i2"; 110 DS_WRXCHG2_RTN_B64 "4:i22";
    111 DS_WRXCHG2ST64_RTN_B64 "4:i22"; 112 DS_CMPST_RTN_B64 "2:i22"; 113 DS_CMPST_RTN_F64 "2:i22";
    114 DS_MIN_RTN_F64 "2:i2"; 115 DS_MAX_RTN_F64 "2:i2"; 118 DS_READ_B64 "2:i"; 119 DS_READ2_B64 "4:i";
    120 DS_READ2ST64_B64 "4:i"; 124 DS_ADD_RTN_F64 "2:i2"; 126 DS_CONDXCHG32_RTN_B64 "2:i2";
    152 DS_GWS_SEMA_RELEASE_ALL ":"; 154 DS_GWS_SEMA_V ":"; 156 DS_GWS_SEMA_P ":";
    182 DS_READ_ADDTID_B32 "1:"; 183 DS_PK_ADD_RTN_F16 "1:i1"; 184 DS_PK_ADD_RTN_BF16 "1:i1";
    189 DS_CONSUME "1:"; 190 DS_APPEND "1:"; 222 DS_WRITE_B96 ":i3"; 223 DS_WRITE_B128 ":i4";
    224 DS_READ_B64_TR_B4 "2:i" [N]; 225 DS_READ_B96_TR_B6 "3:i" [N]; 226 DS_READ_B64_TR_B8 "2:i" [N];
    227 DS_READ_B64_TR_B16 "2:i" [N]; 254 DS_READ_B96 "3:i"; 255 DS_READ_B128 "4:i";
}
Vmem {
    16 LOAD_UBYTE "1:"; 17 LOAD_SBYTE "1:"; 18 LOAD_USHORT "1:"; 19 LOAD_SSHORT "1:"; 20 LOAD_DWORD "1:";
    21 LOAD_DWORDX2 "2:"; 22 LOAD_DWORDX3 "3:"; 23 LOAD_DWORDX4 "4:"; 24 STORE_BYTE ":1";
    25 STORE_BYTE_D16_HI ":1"; 26 STORE_SHORT ":1"; 27 STORE_SHORT_D16_HI ":1"; 28 STORE_DWORD ":1";
    29 STORE_DWORDX2 ":2"; 30 STORE_DWORDX3 ":3"; 31 STORE_DWORDX4 ":4"; 32 LOAD_UBYTE_D16 "1:" [R];
    33 LOAD_UBYTE_D16_HI "1:" [R]; 34 LOAD_SBYTE_D16 "1:" [R]; 35 LOAD_SBYTE_D16_HI "1:" [R];
    36 LOAD_SHORT_D16 "1:" [R]; 37 LOAD_SHORT_D16_HI "1:" [R]; 64 ATOMIC_SWAP "1:1"; 65 ATOMIC_CMPSWAP "1:2";
    66 ATOMIC_ADD "1:1"; 67 ATOMIC_SUB "1:1"; 68 ATOMIC_SMIN "1:1"; 69 ATOMIC_UMIN "1:1"; 70 ATOMIC_SMAX "1:1";
    71 ATOMIC_UMAX "1:1"; 72 ATOMIC_AND "1:1"; 73 ATOMIC_OR "1:1"; 74 ATOMIC_XOR "1:1"; 75 ATOMIC_INC "1:1";
    76 ATOMIC_DEC "1:1"; 77 ATOMIC_ADD_F32 "1:1"; 78 ATOMIC_PK_ADD_F16 "1:1"; 79 ATOMIC_ADD_F64 "2:2";
    80 ATOMIC_MIN_F64 "2:2"; 81 ATOMIC_MAX_F64 "2:2"; 82 ATOMIC_PK_ADD_BF16 "1:1"; 96 ATOMIC_SWAP_X2 "2:2";
    97 ATOMIC_CMPSWAP_X2 "2:4"; 98 ATOMIC_ADD_X2 "2:2"; 99 ATOMIC_SUB_X2 "2:2"; 100 ATOMIC_SMIN_X2 "2:2";
    101 ATOMIC_UMIN_X2 "2:2"; 102 ATOMIC_SMAX_X2 "2:2"; 103 ATOMIC_UMAX_X2 "2:2"; 104 ATOMIC_AND_X2 "2:2";
    105 ATOMIC_OR_X2 "2:2"; 106 ATOMIC_XOR_X2 "2:2"; 107 ATOMIC_INC_X2 "2:2"; 108 ATOMIC_DEC_X2 "2:2";
}
Mubuf {
    0 LOAD_FORMAT_X "1:"; 1 LOAD_FORMAT_XY "2:"; 2 LOAD_FORMAT_XYZ "3:"; 3 LOAD_FORMAT_XYZW "4:";
    4 STORE_FORMAT_X ":1"; 5 STORE_FORMAT_XY ":2"; 6 STORE_FORMAT_XYZ ":3"; 7 STORE_FORMAT_XYZW ":4";
    8 LOAD_FORMAT_D16_X "1:"; 9 LOAD_FORMAT_D16_XY "1:"; 10 LOAD_FORMAT_D16_XYZ "2:";
    11 LOAD_FORMAT_D16_XYZW "2:"; 12 STORE_FORMAT_D16_X ":1"; 13 STORE_FORMAT_D16_XY ":1";
    14 STORE_FORMAT_D16_XYZ ":2"; 15 STORE_FORMAT_D16_XYZW ":2"; 38 LOAD_FORMAT_D16_HI_X "1:" [R];
    39 STORE_FORMAT_D16_HI_X ":1"; 40 WBL2 ":"; 41 INV ":";
}
Global {
    38 LOAD_LDS_UBYTE ":"; 39 LOAD_LDS_SBYTE ":"; 40 LOAD_LDS_USHORT ":"; 41 LOAD_LDS_SSHORT ":";
    42 LOAD_LDS_DWORD ":"; 125 LOAD_LDS_DWORDX4 ":" [N]; 126 LOAD_LDS_DWORDX3 ":" [N];
}
}

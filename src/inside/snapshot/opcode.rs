//! The operations of a pickle: those that only build numbers, texts, lists and dictionaries are carried out, all others are refused by name.
//!
//! Names and codes: Python's `pickletools`. Nothing that imports, calls or sets state is here to be carried out.

/// An operation that builds plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opcode {
    Proto,
    Frame,
    Stop,
    Mark,
    None,
    True,
    False,
    Int1,
    Int2,
    Int4,
    Long1,
    Long4,
    Float,
    /// A text, and how many bytes its length takes.
    Text(u8),
    IntLine,
    LongLine,
    FloatLine,
    /// Text up to the end of the line, escaped as Python escapes it.
    TextLine,
    EmptyTuple,
    Tuple1,
    Tuple2,
    Tuple3,
    Tuple,
    EmptyList,
    List,
    Append,
    Appends,
    EmptyDict,
    Dict,
    SetItem,
    SetItems,
    Memoize,
    Put1,
    Put4,
    PutLine,
    Get1,
    Get4,
    GetLine,
}

/// Why an operation is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It would run something of the file's choice, and how.
    Runs(&'static str),
    /// It builds something that a snapshot has none of.
    Foreign(&'static str),
}

/// What a byte means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Allowed(Opcode),
    Refused(&'static str, Reason),
    Unknown,
}

/// The meaning of each byte, once for all.
pub(super) static MEANINGS: [Meaning; 256] = {
    let mut table = [Meaning::Unknown; 256];
    let mut at = 0;
    while at < ALLOWED.len() {
        table[ALLOWED[at].0 as usize] = Meaning::Allowed(ALLOWED[at].1);
        at += 1;
    }
    at = 0;
    while at < REFUSED.len() {
        let (code, name, reason) = REFUSED[at];
        table[code as usize] = Meaning::Refused(name, reason);
        at += 1;
    }
    table
};

const ALLOWED: [(u8, Opcode); 40] = [
    (0x80, Opcode::Proto),
    (0x95, Opcode::Frame),
    (b'.', Opcode::Stop),
    (b'(', Opcode::Mark),
    (b'N', Opcode::None),
    (0x88, Opcode::True),
    (0x89, Opcode::False),
    (b'K', Opcode::Int1),
    (b'M', Opcode::Int2),
    (b'J', Opcode::Int4),
    (0x8a, Opcode::Long1),
    (0x8b, Opcode::Long4),
    (b'G', Opcode::Float),
    (0x8c, Opcode::Text(1)),
    (b'X', Opcode::Text(4)),
    (0x8d, Opcode::Text(8)),
    (b'I', Opcode::IntLine),
    (b'L', Opcode::LongLine),
    (b'F', Opcode::FloatLine),
    (b'V', Opcode::TextLine),
    (b')', Opcode::EmptyTuple),
    (0x85, Opcode::Tuple1),
    (0x86, Opcode::Tuple2),
    (0x87, Opcode::Tuple3),
    (b't', Opcode::Tuple),
    (b']', Opcode::EmptyList),
    (b'l', Opcode::List),
    (b'a', Opcode::Append),
    (b'e', Opcode::Appends),
    (b'}', Opcode::EmptyDict),
    (b'd', Opcode::Dict),
    (b's', Opcode::SetItem),
    (b'u', Opcode::SetItems),
    (0x94, Opcode::Memoize),
    (b'q', Opcode::Put1),
    (b'r', Opcode::Put4),
    (b'p', Opcode::PutLine),
    (b'h', Opcode::Get1),
    (b'j', Opcode::Get4),
    (b'g', Opcode::GetLine),
];

const REFUSED: [(u8, &str, Reason); 28] = [
    (b'c', "GLOBAL", Reason::Runs("imports a module")),
    (0x93, "STACK_GLOBAL", Reason::Runs("imports a module")),
    (b'R', "REDUCE", Reason::Runs("calls a function")),
    (b'b', "BUILD", Reason::Runs("sets the state of an object")),
    (b'i', "INST", Reason::Runs("imports and calls a class")),
    (b'o', "OBJ", Reason::Runs("calls a class")),
    (0x81, "NEWOBJ", Reason::Runs("makes an object of a class")),
    (0x92, "NEWOBJ_EX", Reason::Runs("makes an object of a class")),
    (0x82, "EXT1", Reason::Runs("imports what a registry names")),
    (0x83, "EXT2", Reason::Runs("imports what a registry names")),
    (0x84, "EXT4", Reason::Runs("imports what a registry names")),
    (b'P', "PERSID", Reason::Runs("asks the program for an object")),
    (b'Q', "BINPERSID", Reason::Runs("asks the program for an object")),
    (b'S', "STRING", Reason::Foreign("texts of Python 2")),
    (b'T', "BINSTRING", Reason::Foreign("texts of Python 2")),
    (b'U', "SHORT_BINSTRING", Reason::Foreign("texts of Python 2")),
    (b'B', "BINBYTES", Reason::Foreign("raw bytes")),
    (b'C', "SHORT_BINBYTES", Reason::Foreign("raw bytes")),
    (0x8e, "BINBYTES8", Reason::Foreign("raw bytes")),
    (0x96, "BYTEARRAY8", Reason::Foreign("raw bytes")),
    (0x97, "NEXT_BUFFER", Reason::Foreign("buffers outside the file")),
    (0x98, "READONLY_BUFFER", Reason::Foreign("buffers outside the file")),
    (0x8f, "EMPTY_SET", Reason::Foreign("sets")),
    (0x90, "ADDITEMS", Reason::Foreign("sets")),
    (0x91, "FROZENSET", Reason::Foreign("sets")),
    (b'0', "POP", Reason::Foreign("objects that are thrown away, as recursive ones are")),
    (b'1', "POP_MARK", Reason::Foreign("objects that are thrown away, as recursive ones are")),
    (b'2', "DUP", Reason::Foreign("objects that are doubled on the stack")),
];

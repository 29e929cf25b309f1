//! The real snapshot and a made-up story (`tests/explain/make.py`) in every layout and protocol, and files that mean harm.

use std::io::Read as _;

use proptest::prelude::*;

use super::*;
use crate::inside::Verdict;
use crate::model::{Bytes, SafeText};

macro_rules! story {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/explain/story-", $name, ".pickle")).as_slice()
    };
}

fn story() -> Snapshot {
    read(story!("4")).expect("the story")
}

/// In halves of a MiB: the story has nothing smaller.
fn halves(bytes: Bytes) -> u64 {
    assert_eq!(bytes.0 % (1 << 19), 0);
    bytes.0 >> 19
}

fn h200() -> Vec<u8> {
    let mut bytes = Vec::new();
    let packed = include_bytes!("../../../tests/explain/snapshot.pickle.gz");
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).expect("gzip");
    bytes
}

/// Figures added up with Python's own `pickle`, apart from this program.
#[test]
fn the_h200() {
    let bytes = h200();
    assert!(looks_like(&bytes));
    let snapshot = read(bytes.as_slice()).expect("the real snapshot");
    let reports = examine(&snapshot, Some(Bytes::mib(12)));
    assert_eq!(reports.len(), 1);
    let report = &reports[0];
    let tally = &report.tally;
    let layers = tally.layers;
    assert_eq!(layers.tensors, Bytes(6_341_011_456));
    assert_eq!((layers.pending, layers.cached), (Bytes::ZERO, Bytes::ZERO));
    assert_eq!(layers.stuck, Bytes(7_680_546_816));
    assert_eq!(layers.reserved(), Bytes(14_021_558_272));
    assert_eq!(tally.requested, Bytes(6_341_010_432));
    assert_eq!((tally.segments, tally.blocks, tally.live_blocks, tally.free_blocks), (668, 4005, 2005, 2000));
    assert_eq!(tally.largest_hole, Bytes::mib(11));
    let holes: Vec<_> = tally.holes.iter().filter(|kind| kind.count > 0).map(|kind| (kind.below, kind.count, kind.bytes.0)).collect();
    assert_eq!(holes, [(Some(Bytes::mib(2)), 4, 4_970_496), (Some(Bytes::mib(10)), 1995, 7_664_041_984), (Some(Bytes::mib(20)), 1, 11_534_336)]);
    assert_eq!(report.verdict, Verdict::Fragmented);

    let line = report.timeline.as_ref().expect("events");
    assert_eq!((line.events, line.start, line.end), (7, Bytes(6_325_010_432), Bytes(6_341_010_432)));
    assert_eq!((line.peak, line.peak_at, line.span_us), (Bytes(6_345_010_432), Some(4), 417));
    assert!(line.ooms.is_empty() && !line.contradicts);

    let places: Vec<_> = report
        .live
        .iter()
        .map(|held| (snapshot.place(held.site).map(|place| (place.file.to_string(), place.line)), held.bytes.0, held.count))
        .collect();
    assert_eq!(places, [(None, 6_325_010_432, 2001), (Some(("train.py".to_owned(), 35)), 16_000_000, 4)]);

    let fit = report.fit.as_ref().expect("asked");
    assert_eq!(fit.fits(), None, "7.2 GiB are free and 12 MiB have no place: the driver is asked");
    assert_eq!(fit.largest_hole, Bytes::mib(11));
    let Outcome::Asks { segment, releasable, at_least, .. } = fit.outcome else { panic!("{fit:?}") };
    assert_eq!((segment, releasable, at_least), (Bytes::mib(12), Bytes::ZERO, Bytes::mib(12)));
    let fit = examine(&snapshot, Some(Bytes::mib(11)))[0].fit.clone().expect("asked");
    assert_eq!(fit.outcome, Outcome::Reuses { block: Bytes::mib(11) });
}

/// Of a real H200 whose process had a fraction of 0.25: 30 GiB live, 12 asked, and most of the card free.
#[test]
fn the_h200_with_a_fraction() {
    let bytes = include_bytes!("../../../tests/explain/fraction.pickle");
    let snapshot = read(bytes.as_slice()).expect("the real snapshot");
    let report = &examine(&snapshot, None)[0];
    let oom = report.oom().expect("one failed");
    assert_eq!((oom.asked, oom.device_free), (Bytes(12_884_901_888), Bytes(117_345_222_656)));
    assert_eq!((oom.live, oom.reserved), (Bytes::gib(30), Bytes::gib(30)));
    assert_eq!(report.verdict, Verdict::ProcessCap);
    assert_eq!(report.tally.layers.cached, Bytes::gib(30), "all of it was freed before the snapshot");
    let place = snapshot.place(report.at_peak[0].site).expect("a place");
    assert_eq!((place.function.as_str(), place.line, report.at_peak[0].bytes), ("take", 19, Bytes::gib(30)));
}

#[test]
fn the_story_s_layers() {
    let snapshot = story();
    let reports = examine(&snapshot, None);
    assert_eq!(reports.iter().map(|report| report.device).collect::<Vec<_>>(), [0, 1]);
    let tally = &reports[0].tally;
    assert_eq!(halves(tally.layers.tensors), 16 + 16 + 2 + 24 + 4 + 20 + 20);
    assert_eq!(halves(tally.layers.pending), 1);
    // 40 whole, and of the expandable segment the pages of 20 MiB within its free blocks: 20 to 60 of 10..70, 80 to 100 of 80..100.
    assert_eq!(halves(tally.layers.cached), 80 + 80 + 40);
    assert_eq!(halves(tally.layers.stuck), 8 + 1 + 16 + 36 + 40);
    assert_eq!(halves(tally.layers.reserved()), 404);
    assert_eq!(halves(tally.private().reserved()), 40);
    assert_eq!(tally.pools.len(), 4);
    assert_eq!(halves(tally.largest_hole), 120);
    assert_eq!(halves(reports[1].tally.layers.tensors), 40);
    let settings = snapshot.settings.as_ref().expect("settings");
    assert_eq!((settings.max_split_size, settings.expandable), (Some(Bytes::mib(128)), Some(false)));
    assert_eq!(settings.conf.as_ref().map(SafeText::as_str), Some("max_split_size_mb:128"));
    assert_eq!(settings.roundup, [(1, 0), (256, 4), (512, 2)]);
}

#[test]
fn the_story_s_events() {
    let snapshot = story();
    let report = &examine(&snapshot, None)[0];
    let line = report.timeline.as_ref().expect("events");
    // Live now: 51.5 MiB less 100 B of rounding in each of eight blocks; the first 8 MiB block came in the trace.
    let end = (51 << 20) + (1 << 19) - 8 * 100;
    assert_eq!(line.end, Bytes(end));
    assert_eq!(line.start, Bytes(end - ((8 << 20) - 100)));
    assert_eq!((line.peak, line.peak_at), (Bytes(end + (100 << 20)), Some(2)));
    let oom = report.oom().expect("one failed");
    assert_eq!((oom.asked, oom.device_free, oom.live, oom.at), (Bytes::mib(200), Bytes::mib(30), Bytes(end), 6));
    assert_eq!(oom.reserved, Bytes::mib(202), "100 were given back");
    // 150.5 unused inside torch and 30 on the card do not make 200; live memory is less than half of all that is known.
    assert_eq!(report.verdict, Verdict::Unknown);
    assert_eq!(line.columns.len(), 8);
}

#[test]
fn the_story_s_places() {
    let snapshot = story();
    let report = &examine(&snapshot, None)[0];
    let of = |holdings: &[Holding]| -> Vec<_> {
        holdings
            .iter()
            .map(|held| {
                (snapshot.place(held.site).map(|place| format!("{} {}:{}", place.function, place.file, place.line)), held.bytes.0, held.count)
            })
            .collect()
    };
    let (model, main) = (Some("forward /srv/job/model.py:40".to_owned()), Some("main /srv/job/train.py:12".to_owned()));
    let less = |half_mib: u64, blocks: u64| half_mib * (1 << 19) - 100 * blocks;
    assert_eq!(of(&report.live), [(main.clone(), less(56, 3), 3), (model.clone(), less(43, 4), 4), (None, less(4, 1), 1)]);
    // 100 more at the peak, asked for by the model.
    assert_eq!(of(&report.at_peak), [(model, less(43, 4) + (100 << 20), 5), (main, less(56, 3), 3), (None, less(4, 1), 1)]);
    let place = snapshot.place(snapshot.blocks[0].site).expect("a place");
    let (function, file, line) = place.through.expect("a library");
    assert!(file.as_str().ends_with("linear.py"));
    assert_eq!((function.as_str(), line), ("forward", 125));
}

#[test]
fn what_fits_in_the_story() {
    let snapshot = story();
    let fit = |bytes| examine(&snapshot, Some(bytes))[0].fit.clone().expect("asked");
    assert_eq!(fit(Bytes::mib(3)).outcome, Outcome::Reuses { block: Bytes::mib(4) }, "the smallest that is large enough");
    assert_eq!(fit(Bytes::mib(5)).outcome, Outcome::Reuses { block: Bytes::mib(20) }, "not the private 8");
    assert_eq!(fit(Bytes(1000)).outcome, Outcome::Reuses { block: Bytes(1 << 19) }, "of the small pool");
    let large = fit(Bytes::mib(70));
    // The expandable segment grows behind its last 20: 50 more, in pages of 20.
    let Outcome::Asks { segment, releasable, at_least, device_free } = large.outcome else { panic!("{large:?}") };
    assert_eq!((segment, device_free), (Bytes::mib(60), Some(Bytes::mib(30))));
    assert_eq!((releasable, at_least), (Bytes::mib(100), Bytes::ZERO));
    assert_eq!(large.fits(), Some(true));
    assert_eq!(fit(Bytes::mib(300)).rounded, Bytes::mib(320), "four parts of 256");
    assert_eq!(fit(Bytes::gib(2)).fits(), Some(false));
}

#[test]
fn every_protocol_says_the_same() {
    let expected = format!("{:?}", examine(&story(), Some(Bytes::mib(70))));
    let protocols = [story!("0"), story!("1"), story!("2"), story!("3"), story!("5"), story!("native")];
    for (n, bytes) in protocols.iter().enumerate() {
        assert!(looks_like(bytes), "{n}");
        let snapshot = read(*bytes).unwrap_or_else(|refusal| panic!("{n}: {refusal}"));
        // Sites are numbered in the file's order, which the layouts share.
        assert_eq!(format!("{:?}", examine(&snapshot, Some(Bytes::mib(70)))), expected, "{n}");
    }
}

#[test]
fn older_layouts() {
    let expected = story();
    let list = read(story!("list")).expect("a list of segments");
    assert_eq!(examine(&list, None)[0].tally.layers, examine(&expected, None)[0].tally.layers);
    assert!(examine(&list, None)[0].timeline.is_none() && list.settings.is_none());
    for bytes in [story!("old"), story!("early")] {
        let old = read(bytes).expect("blocks with a history");
        let report = &examine(&old, None)[0];
        assert_eq!(old.segments_of(0).len(), 6);
        // Pools and expandable segments are not told: what is free in one in use is stuck.
        assert_eq!(halves(report.tally.layers.tensors), 102);
        assert_eq!(halves(report.tally.layers.cached), 80);
        assert_eq!(halves(report.tally.layers.stuck), 221);
        assert_eq!(report.tally.requested, Bytes((51 << 20) + (1 << 19) - 800), "the newest real sizes");
        assert_eq!(old.blocks[1].address, old.blocks[0].address + (8 << 20));
        assert_eq!(report.live[0].bytes, examine(&expected, None)[0].live[0].bytes);
    }
}

fn refused(bytes: &[u8]) -> Refusal {
    read(bytes).expect_err("refused")
}

#[test]
fn nothing_is_ever_run() {
    // pickle.dumps of an object whose __reduce__ is os.system, in protocols 0 and 4; and one of each other kind.
    let cases: [(&[u8], &str); 9] = [
        (b"cposix\nsystem\np0\n(Vtrue\np1\ntp2\nRp3\n.", "GLOBAL"),
        (b"\x80\x04\x95\x1d\0\0\0\0\0\0\0\x8c\x05posix\x94\x8c\x06system\x94\x93\x94\x8c\x04true\x94\x85\x94R\x94.", "STACK_GLOBAL"),
        (b"\x80\x04NR.", "REDUCE"),
        (b"\x80\x04}}b.", "BUILD"),
        (b"(ios\nsystem\n.", "INST"),
        (b"\x80\x02(o.", "OBJ"),
        (b"\x80\x02)\x81.", "NEWOBJ"),
        (b"\x80\x02\x82\x01.", "EXT1"),
        (b"Pname\n.", "PERSID"),
    ];
    for (bytes, name) in cases {
        let refusal = refused(bytes);
        assert!(matches!(refusal.why, Why::Opcode { name: found, reason: Reason::Runs(_) } if found == name), "{refusal:?}");
        assert!(refusal.to_string().contains("wants to run code"), "{refusal}");
    }
    assert!(refused(b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f").to_string().contains("raw bytes"));
}

#[test]
fn lengths_are_not_believed() {
    // 2 GB in one text, 2^63 bytes, 4 GB of a number, a memo number of 4 billion, a level for each byte.
    assert!(matches!(refused(b"\x80\x02X\0\0\0\x80").why, Why::TooMuch { .. }));
    assert!(matches!(refused(b"\x80\x04\x8d\0\0\0\0\0\0\0\x80").why, Why::TooMuch { .. }));
    assert!(matches!(refused(b"\x80\x02\x8b\xff\xff\xff\xff").why, Why::TooMuch { .. }));
    assert!(matches!(refused(b"\x80\x02]r\xff\xff\xff\xff.").why, Why::Malformed(_)));
    assert!(matches!(refused(&[b'('; 10_000]).why, Why::TooMuch { .. }));
    assert!(matches!(refused(b"\x80\x09.").why, Why::Protocol(9)));
    let long = [b"V".as_slice(), &vec![b'a'; 3 << 20]].concat();
    assert!(matches!(refused(&long).why, Why::TooMuch { .. }));
}

#[test]
fn recursion_is_refused() {
    // l = []; l.append(l), d = {}; d["a"] = d, and a list that grows after it was used.
    assert_eq!(refused(b"\x80\x04]\x94h\0a.").why, Why::Recursive);
    assert_eq!(refused(b"\x80\x02]q\0h\0a.").why, Why::Recursive);
    assert_eq!(refused(b"(dp0\nVa\ng0\ns.").why, Why::Recursive);
    assert_eq!(refused(b"\x80\x02}q\0(X\x01\0\0\0ah\0u.").why, Why::Recursive);
    assert_eq!(refused(b"\x80\x02]q\0(h\0N\x85e.").why, Why::Recursive);
}

/// Lists of ten references to the list before, forty deep: 10^40 elements for whoever follows them.
#[test]
fn a_memo_bomb_is_as_small_as_it_is_written() {
    fn level(n: u8, into: &mut Vec<u8>) {
        into.extend_from_slice(&[b']', b'q', n, b'(']);
        if n < 40 {
            level(n + 1, into);
            (0..9).for_each(|_| into.extend_from_slice(&[b'h', n + 1]));
        }
        into.push(b'e');
    }
    let mut bomb = b"\x80\x02}X\x08\0\0\0segments".to_vec();
    level(0, &mut bomb);
    bomb.extend_from_slice(b"s.");
    assert!(bomb.len() < 1000);
    assert!(matches!(refused(&bomb).why, Why::NotASnapshot(_)));

    // One list of blocks in a thousand segments.
    let block = b"}(X\x05\0\0\0stateX\x08\0\0\0inactiveX\x04\0\0\0sizeK\x01u";
    let mut bomb = b"\x80\x02](".to_vec();
    bomb.extend_from_slice(b"}(X\x0a\0\0\0total_sizeK\x64X\x06\0\0\0blocks]q\0(");
    (0..100).for_each(|_| bomb.extend_from_slice(block));
    bomb.extend_from_slice(b"eu");
    (0..1000).for_each(|_| bomb.extend_from_slice(b"}(X\x0a\0\0\0total_sizeK\x64X\x06\0\0\0blocksh\0u"));
    bomb.extend_from_slice(b"e.");
    assert_eq!(refused(&bomb).why, Why::Malformed("a block that is in two segments"));
}

#[test]
fn other_pickles_are_named_for_what_they_are() {
    assert!(matches!(refused(b"\x80\x04K\x05.").why, Why::NotASnapshot(_)));
    assert!(matches!(refused(b"\x80\x04}.").why, Why::NotASnapshot(_)));
    assert!(matches!(refused(b"\x80\x04].").why, Why::NotASnapshot(_)));
    assert!(matches!(refused(b"\x80\x04}(\x8c\x08segmentsK\x01u.").why, Why::NotASnapshot(_)));
    assert!(!looks_like(b"RuntimeError: CUDA out of memory"));
    assert!(!looks_like(b"{\"type\":\"header\"") && !looks_like(b""));
    let empty = read(b"\x80\x04}\x8c\x08segments]s.".as_slice()).expect("nothing allocated yet");
    assert!(examine(&empty, None).is_empty());
}

#[test]
fn a_file_that_is_cut_says_where() {
    let whole = story!("4");
    for end in 0..whole.len() {
        let refusal = refused(&whole[..end]);
        assert_eq!(refusal.why, Why::Cut);
        assert_eq!(refusal.offset, end as u64);
    }
    assert!(refused(&whole[..500]).to_string().contains("byte 500"));
}

#[test]
fn blocks_lie_within_their_segment() {
    let segment = |second: u8, size: u8| {
        let mut bytes = b"\x80\x02](}(X\x0a\0\0\0total_sizeK\x10X\x07\0\0\0addressK\x80X\x06\0\0\0blocks](".to_vec();
        for (address, size) in [(0x80, 8), (second, size)] {
            bytes.extend_from_slice(b"}(X\x05\0\0\0stateX\x08\0\0\0inactiveX\x07\0\0\0addressK");
            bytes.push(address);
            bytes.extend_from_slice(b"X\x04\0\0\0sizeK");
            bytes.push(size);
            bytes.push(b'u');
        }
        bytes.extend_from_slice(b"eue.");
        read(bytes.as_slice())
    };
    assert!(segment(0x88, 8).is_ok());
    assert!(segment(0x88, 4).is_ok(), "what the blocks leave out is free");
    assert!(matches!(segment(0x87, 8).expect_err("overlaps").why, Why::Malformed(_)));
    assert!(matches!(segment(0x88, 9).expect_err("ends behind").why, Why::Malformed(_)));
}

#[test]
fn surprising_but_sound() {
    // A request that failed where the device had room: a limit of the process.
    let events = [Event { action: Action::Oom, address: 1 << 40, size: Bytes::gib(1), time_us: 0, site: SiteId::UNKNOWN }];
    let capped = Snapshot { events: events.to_vec(), traces: vec![Run { start: 0, len: 1 }], ..Snapshot::default() };
    assert_eq!(examine(&capped, None)[0].verdict, Verdict::ProcessCap);
    // Events that free what was never there.
    let freed = Event { action: Action::FreeCompleted, address: 1, size: Bytes::gib(1), time_us: 0, site: SiteId::UNKNOWN };
    let made = Event { action: Action::Alloc, ..freed };
    let odd = Snapshot { events: vec![made, made], traces: vec![Run { start: 0, len: 2 }], ..Snapshot::default() };
    let line = examine(&odd, None)[0].timeline.clone().expect("events");
    assert!(line.contradicts);
    assert_eq!((line.start, line.peak), (Bytes::ZERO, Bytes::gib(2)));
}

proptest! {
    #[test]
    fn any_bytes_are_borne(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(bytes.as_slice());
        let _ = read([b"\x80\x04", bytes.as_slice()].concat().as_slice());
    }

    #[test]
    fn any_operations_are_borne(codes in proptest::collection::vec(proptest::sample::select(b"]}()(tlde.asuNKhq\x94\x85\x86\x87\x88\x89h\0\x01\x02".to_vec()), 0..200)) {
        let _ = read([b"\x80\x04", codes.as_slice()].concat().as_slice());
    }

    /// A changed snapshot is refused, or read as something that adds up.
    #[test]
    fn changed_snapshots_are_borne(at in 0_usize..6000, with in proptest::collection::vec(any::<u8>(), 0..6), cut in 0_usize..6) {
        let mut bytes = story!("4").to_vec();
        let at = at.min(bytes.len());
        let end = (at + cut).min(bytes.len());
        bytes.splice(at..end, with);
        if let Ok(snapshot) = read(bytes.as_slice()) {
            for report in examine(&snapshot, Some(Bytes::gib(1))) {
                let pools: Bytes = report.tally.pools.values().map(|pool| pool.layers.reserved()).sum();
                prop_assert_eq!(pools, report.tally.layers.reserved());
            }
        }
    }
}

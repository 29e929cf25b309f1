//! That the answers draw on the table of remedies and do not merely borrow its names: what is advised is said there to help.

use vramtop::inside::advice::advise;
use vramtop::inside::oom;

use crate::answers::all;

#[test]
fn each_step_is_of_a_remedy_that_helps_with_the_verdict() {
    let mut wrong = Vec::new();
    for case in all() {
        for report in oom::read(case.text.as_bytes()).expect("readable").reports {
            for step in advise(&report).first {
                let helps = step.remedy.facts().helps;
                if !helps.contains(&report.verdict) && !report.also.iter().any(|other| helps.contains(other)) {
                    wrong.push(format!("{}: {} by {:?}: {}", case.file, report.verdict.word(), step.remedy, step.text));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

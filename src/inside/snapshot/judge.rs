//! What a device's part of a snapshot says in one word and one sentence's figures. The words are those of out-of-memory texts.

use super::facts::Snapshot;
use super::fit::{Fit, fit};
use super::tally::{Tally, tally};
use super::timeline::{Holding, Oom, Timeline, holdings, timeline};
use crate::inside::verdict::{Verdict, is_much};
use crate::model::Bytes;

/// All that is known of one device.
#[derive(Clone, Debug)]
pub struct Report {
    /// The device, as torch numbers it.
    pub device: u32,
    /// What it is made of.
    pub tally: Tally,
    /// How it went; `None` where no events were recorded.
    pub timeline: Option<Timeline>,
    /// What is live, by place; empty where no places were recorded.
    pub live: Vec<Holding>,
    /// What was live at the peak, by place, where that was another moment than now.
    pub at_peak: Vec<Holding>,
    /// Whether the request that was asked about fits.
    pub fit: Option<Fit>,
    /// What is the matter.
    pub verdict: Verdict,
}

impl Report {
    /// The last request that failed.
    pub fn oom(&self) -> Option<&Oom> {
        self.timeline.as_ref().and_then(|line| line.ooms.last())
    }
}

/// Looks at every device of a snapshot, and at whether a request of `asked` would fit there.
pub fn examine(snapshot: &Snapshot, asked: Option<Bytes>) -> Vec<Report> {
    snapshot.devices().into_iter().map(|device| report(snapshot, device, asked)).collect()
}

fn report(snapshot: &Snapshot, device: u32, asked: Option<Bytes>) -> Report {
    let tally = tally(snapshot, device);
    let timeline = timeline(snapshot, device);
    let known = |holdings: Vec<Holding>| if holdings.iter().any(|held| snapshot.place_key(held.site).is_some()) { holdings } else { Vec::new() };
    let live = known(holdings(snapshot, device, None));
    // A hundredth more than now is the same picture.
    let peak_at = timeline.as_ref().filter(|line| line.peak.saturating_sub(line.end).0 > line.peak.0 / 100).and_then(|line| line.peak_at);
    let at_peak = peak_at.map_or(Vec::new(), |at| known(holdings(snapshot, device, Some(at))));
    let oom = timeline.as_ref().and_then(|line| line.ooms.last());
    let fit = asked.map(|asked| fit(snapshot, device, &tally, oom.map(|oom| oom.device_free), asked));
    let verdict = verdict(&tally, oom);
    Report { device, tally, timeline, live, at_peak, fit, verdict }
}

fn verdict(tally: &Tally, oom: Option<&Oom>) -> Verdict {
    let layers = tally.layers;
    let reserved = layers.reserved();
    let much = |part: Bytes| is_much(part, reserved);
    let private = tally.private().reserved();
    if let Some(oom) = oom {
        // Torch gives back all it can before it fails: what it held and nobody used was stuck.
        let unused = oom.reserved.saturating_sub(oom.live);
        return if oom.device_free >= oom.asked {
            Verdict::ProcessCap
        } else if unused + oom.device_free >= oom.asked && unused > Bytes::ZERO {
            if private.0.saturating_mul(2) >= unused.0 && much(private) { Verdict::GraphPool } else { Verdict::Fragmented }
        } else if much(private) && private.0.saturating_mul(2) >= oom.live.0 {
            // As for a text: what graphs keep alive is theirs, and not the job's to make less of.
            Verdict::GraphPool
        } else if oom.live.0.saturating_mul(2) > (oom.reserved + oom.device_free).0 {
            Verdict::FullSelf
        } else {
            Verdict::Unknown
        };
    }
    if much(private) && private >= layers.stuck {
        Verdict::GraphPool
    } else if much(layers.stuck) {
        Verdict::Fragmented
    } else if much(layers.cached) {
        Verdict::Cached
    } else {
        Verdict::Sound
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::SiteId;
    use super::super::tally::{Layers, Pool, PoolId};
    use super::*;

    /// An H200 with `private` GiB in the pools of captured graphs whose outputs are alive, of 131 live in all; 14 asked, 8 free.
    fn with_graphs(private: u64) -> Verdict {
        let pool = |gib: u64| Pool { layers: Layers { tensors: Bytes::gib(gib), ..Layers::default() }, ..Pool::default() };
        let id = |owner| PoolId { owner, small: false, stream: 0 };
        let pools = [(id((0, 0)), pool(131 - private)), (id((1, 0)), pool(private))];
        let tally = Tally { layers: pool(131).layers, pools: pools.into(), ..Tally::default() };
        let (live, reserved) = (Bytes::gib(131), Bytes::gib(131));
        let oom = Oom { asked: Bytes::gib(14), device_free: Bytes::gib(8), live, reserved, time_us: 0, site: SiteId::UNKNOWN, at: 0 };
        verdict(&tally, Some(&oom))
    }

    #[test]
    fn what_graphs_keep_alive_is_theirs() {
        assert_eq!([96, 66, 65, 0].map(with_graphs), [Verdict::GraphPool, Verdict::GraphPool, Verdict::FullSelf, Verdict::FullSelf]);
    }
}

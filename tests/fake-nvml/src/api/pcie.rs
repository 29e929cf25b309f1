//! The link to the bus.

use std::ffi::c_uint;

use nvml_wrapper_sys::bindings::nvmlPcieUtilCounter_t;

use crate::codes::INVALID_ARGUMENT;

device_calls! {
    /// What goes over the link, in KB/s.
    fn nvmlDeviceGetPcieThroughput(counter: nvmlPcieUtilCounter_t; out: c_uint) |device| {
        let spec = &device.whole()?.spec;
        let reading = match counter {
            0 => &spec.pcie_tx_kb,
            1 => &spec.pcie_rx_kb,
            _ => return Err(INVALID_ARGUMENT),
        };
        out.put(reading.whole(device.now)? as c_uint)
    }

    /// The generation of the link now.
    fn nvmlDeviceGetCurrPcieLinkGeneration(; out: c_uint) |device| {
        out.put(device.whole()?.spec.pcie_gen.whole(device.now)? as c_uint)
    }

    /// The lanes of the link now.
    fn nvmlDeviceGetCurrPcieLinkWidth(; out: c_uint) |device| {
        out.put(device.whole()?.spec.pcie_width.whole(device.now)? as c_uint)
    }

    /// The highest generation of the link.
    fn nvmlDeviceGetMaxPcieLinkGeneration(; out: c_uint) |device| {
        out.put(device.whole()?.spec.pcie_max_gen.whole(device.now)? as c_uint)
    }

    /// The most lanes of the link.
    fn nvmlDeviceGetMaxPcieLinkWidth(; out: c_uint) |device| {
        out.put(device.whole()?.spec.pcie_max_width.whole(device.now)? as c_uint)
    }

    /// How often something was sent again.
    fn nvmlDeviceGetPcieReplayCounter(; out: c_uint) |device| {
        out.put(device.whole()?.spec.pcie_replay.whole(device.now)? as c_uint)
    }
}

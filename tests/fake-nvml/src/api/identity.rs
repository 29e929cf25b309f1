//! What a device is: name, UUID, place on the bus, architecture.

use std::ffi::{c_char, c_int, c_uint};

use nvml_wrapper_sys::bindings::{nvmlBrandType_t, nvmlDeviceArchitecture_t, nvmlPciInfo_t};

use crate::codes::{Answer, NOT_SUPPORTED};
use crate::gate::Device;
use crate::out::{Out, Text, fill};

device_calls! {
    /// The product's name.
    fn nvmlDeviceGetName(name: *mut c_char, length: c_uint) |device| {
        // SAFETY: the caller passes null or a buffer of this length.
        let text = unsafe { Text::new(name, length) };
        let spec = &device.gpu.spec;
        match (&spec.garbage.name_bytes, device.mig) {
            (Some(bytes), _) => text.put(bytes),
            (None, None) => text.put(spec.name.as_bytes()),
            (None, Some((_, mig))) => match &mig.name {
                Some(name) => text.put(name.as_bytes()),
                None => text.put(format!("{} MIG", spec.name).as_bytes()),
            },
        }
    }

    /// The identifier that is unique in the world.
    fn nvmlDeviceGetUUID(uuid: *mut c_char, length: c_uint) |device| {
        // SAFETY: the caller passes null or a buffer of this length.
        let text = unsafe { Text::new(uuid, length) };
        let own = device.mig.map_or(&device.gpu.uuid, |(_, mig)| &mig.uuid);
        text.put(own.as_bytes())
    }

    /// The number of the board, where the scenario has one.
    fn nvmlDeviceGetSerial(serial: *mut c_char, length: c_uint) |device| {
        // SAFETY: the caller passes null or a buffer of this length.
        let text = unsafe { Text::new(serial, length) };
        text.put(device.whole()?.spec.serial.as_ref().ok_or(NOT_SUPPORTED)?.as_bytes())
    }

    /// The version of the video BIOS.
    fn nvmlDeviceGetVbiosVersion(version: *mut c_char, length: c_uint) |device| {
        // SAFETY: the caller passes null or a buffer of this length.
        let text = unsafe { Text::new(version, length) };
        text.put(device.whole()?.spec.vbios.as_bytes())
    }

    /// The place on the bus.
    fn nvmlDeviceGetPciInfo(; pci: nvmlPciInfo_t) |device| {
        put_pci(device, &pci)
    }

    /// The place on the bus.
    fn nvmlDeviceGetPciInfo_v2(; pci: nvmlPciInfo_t) |device| {
        put_pci(device, &pci)
    }

    /// The place on the bus.
    fn nvmlDeviceGetPciInfo_v3(; pci: nvmlPciInfo_t) |device| {
        put_pci(device, &pci)
    }

    /// The index among the devices, or of the instance on its device.
    fn nvmlDeviceGetIndex(; index: c_uint) |device| {
        let own = device.mig.map_or(device.index, |(place, _)| place);
        index.put(own as c_uint)
    }

    /// The number in the name of the device's node.
    fn nvmlDeviceGetMinorNumber(; number: c_uint) |device| {
        number.put(device.whole()?.minor)
    }

    /// The CUDA compute capability.
    fn nvmlDeviceGetCudaComputeCapability(; major: c_int, minor: c_int) |device| {
        let [a, b] = device.gpu.spec.compute_capability;
        major.put(a)?;
        minor.put(b)
    }

    /// The brand.
    fn nvmlDeviceGetBrand(; brand: nvmlBrandType_t) |device| {
        brand.put(device.gpu.spec.brand.whole(device.now)? as nvmlBrandType_t)
    }

    /// The architecture.
    fn nvmlDeviceGetArchitecture(; architecture: nvmlDeviceArchitecture_t) |device| {
        let own = device.gpu.spec.architecture.whole(device.now)?;
        architecture.put(own as nvmlDeviceArchitecture_t)
    }
}

fn put_pci(device: &Device, out: &Out<nvmlPciInfo_t>) -> Answer {
    let pci = device.gpu.pci;
    let mut info = nvmlPciInfo_t {
        busIdLegacy: [0; 16],
        domain: pci.domain,
        bus: pci.bus,
        device: pci.device,
        pciDeviceId: 0x2335_10de,
        pciSubSystemId: device.gpu.spec.pci_subsystem,
        busId: [0; 32],
    };
    let short = format!("{:04X}:{:02X}:{:02X}.0", pci.domain, pci.bus, pci.device);
    let long = format!("{:08X}:{:02X}:{:02X}.0", pci.domain, pci.bus, pci.device);
    fill(&mut info.busIdLegacy, &short);
    fill(&mut info.busId, &long);
    out.put(info)
}

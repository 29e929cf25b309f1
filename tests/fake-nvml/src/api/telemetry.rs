//! Utilization, temperature, power, energy and fans.

use std::ffi::{c_int, c_uint, c_ulonglong};

use nvml_wrapper_sys::bindings::{
    field_id::{NVML_FI_DEV_MEMORY_TEMP, NVML_FI_DEV_POWER_AVERAGE, NVML_FI_DEV_POWER_INSTANT},
    nvmlFieldValue_t, nvmlTemperature_t, nvmlTemperatureSensors_t, nvmlUtilization_t, nvmlValue_t, nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_INT,
};

use crate::codes::{Answer, Code, INVALID_ARGUMENT, NOT_SUPPORTED, VERSION_MISMATCH};
use crate::curve::Reading;
use crate::gate::Device;
use crate::out::Out;

/// The driver's sampling period, in microseconds.
const PERIOD_US: c_uint = 167_000;

device_calls! {
    /// How busy the device and its memory were.
    fn nvmlDeviceGetUtilizationRates(; out: nvmlUtilization_t) |device| {
        let gpu = busy(device, device.whole()?.spec.utilization.as_ref())?;
        let memory = device.gpu.spec.bus_utilization.whole(device.now)? as c_uint;
        if device.gpu.spec.garbage.absurd_utilization {
            return out.put(nvmlUtilization_t { gpu: 250, memory: 250 });
        }
        out.put(nvmlUtilization_t { gpu, memory })
    }

    /// How busy the video encoder was.
    fn nvmlDeviceGetEncoderUtilization(; out: c_uint, period_us: c_uint) |device| {
        out.put(busy(device, device.whole()?.spec.encoder.as_ref())?)?;
        period_us.put(PERIOD_US)
    }

    /// How busy the video decoder was.
    fn nvmlDeviceGetDecoderUtilization(; out: c_uint, period_us: c_uint) |device| {
        out.put(busy(device, device.whole()?.spec.decoder.as_ref())?)?;
        period_us.put(PERIOD_US)
    }

    /// The temperature of the chip in degrees Celsius.
    fn nvmlDeviceGetTemperature(sensor: nvmlTemperatureSensors_t; out: c_uint) |device| {
        if sensor != 0 {
            return Err(INVALID_ARGUMENT);
        }
        out.put(device.whole()?.spec.temperature.whole(device.now)? as c_uint)
    }

    /// The temperature of the chip in degrees Celsius.
    fn nvmlDeviceGetTemperatureV(; out: nvmlTemperature_t) |device| {
        let mut asked = out.get()?;
        if asked.version != size_of::<nvmlTemperature_t>() as u32 | 1 << 24 {
            return Err(VERSION_MISMATCH);
        }
        if asked.sensorType != 0 {
            return Err(INVALID_ARGUMENT);
        }
        asked.temperature = device.whole()?.spec.temperature.at(device.now)? as c_int;
        out.put(asked)
    }

    /// The power drawn, in milliwatts.
    fn nvmlDeviceGetPowerUsage(; out: c_uint) |device| {
        if device.gpu.spec.garbage.absurd_power {
            return out.put(c_uint::MAX);
        }
        put_milli(device, &device.whole()?.spec.power_w, &out)
    }

    /// The limit of power in force, in milliwatts.
    fn nvmlDeviceGetEnforcedPowerLimit(; out: c_uint) |device| {
        put_milli(device, &device.whole()?.spec.power_limit_w, &out)
    }

    /// The limit of power that was set, in milliwatts.
    fn nvmlDeviceGetPowerManagementLimit(; out: c_uint) |device| {
        put_milli(device, &device.whole()?.spec.power_limit_w, &out)
    }

    /// The limit of power that a start sets, in milliwatts.
    fn nvmlDeviceGetPowerManagementDefaultLimit(; out: c_uint) |device| {
        put_milli(device, &device.whole()?.spec.power_default_limit_w, &out)
    }

    /// The lowest and the highest limit of power that can be set, in milliwatts.
    fn nvmlDeviceGetPowerManagementLimitConstraints(; least: c_uint, most: c_uint) |device| {
        put_milli(device, &device.whole()?.spec.power_min_limit_w, &least)?;
        put_milli(device, &device.whole()?.spec.power_max_limit_w, &most)
    }

    /// The energy used since the driver was loaded, in millijoules.
    fn nvmlDeviceGetTotalEnergyConsumption(; out: c_ulonglong) |device| {
        out.put(device.whole()?.energy_mj(device.now)?)
    }

    /// The speed of the fan, in percent.
    fn nvmlDeviceGetFanSpeed(; out: c_uint) |device| {
        out.put(device.whole()?.spec.fan.whole(device.now)? as c_uint)
    }

    /// The speed of one fan, in percent.
    fn nvmlDeviceGetFanSpeed_v2(fan: c_uint; out: c_uint) |device| {
        let spec = &device.whole()?.spec;
        let speed = spec.fan.whole(device.now)?;
        if fan >= spec.fans.max(1) {
            return Err(INVALID_ARGUMENT);
        }
        out.put(speed as c_uint)
    }

    /// How many fans there are.
    fn nvmlDeviceGetNumFans(; out: c_uint) |device| {
        out.put(device.whole()?.spec.fans)
    }

    /// Values by number: the memory's temperature, the power over a second and at this moment.
    fn nvmlDeviceGetFieldValues(count: c_int, values: *mut nvmlFieldValue_t) |device| {
        let count = usize::try_from(count).map_err(|_| INVALID_ARGUMENT)?;
        if values.is_null() || count == 0 {
            return Err(INVALID_ARGUMENT);
        }
        for place in 0..count {
            // SAFETY: not null, and the caller passes `count` values.
            let value = unsafe { &mut *values.add(place) };
            match field(device, value.fieldId) {
                Ok(number) => {
                    value.nvmlReturn = 0;
                    value.valueType = nvmlValueType_enum_NVML_VALUE_TYPE_UNSIGNED_INT;
                    value.value = nvmlValue_t { uiVal: number };
                }
                Err(code) => value.nvmlReturn = code,
            }
        }
        Ok(())
    }

    /// Events: none is supported.
    fn nvmlDeviceGetSupportedEventTypes(; _types: c_ulonglong) |_device| {
        Err(NOT_SUPPORTED)
    }
}

/// A utilization; where the scenario says nothing, a split GPU has none.
fn busy(device: &Device, reading: Option<&Reading>) -> Result<c_uint, Code> {
    match reading {
        Some(reading) => Ok(reading.whole(device.now)? as c_uint),
        None if device.gpu.is_split() => Err(NOT_SUPPORTED),
        None => Ok(0),
    }
}

fn field(device: &Device, id: c_uint) -> Result<c_uint, Code> {
    let spec = &device.whole()?.spec;
    let milli = |watts: &Reading| Ok((watts.at(device.now)? * 1e3).round() as c_uint);
    match id {
        NVML_FI_DEV_MEMORY_TEMP => Ok(spec.memory_temperature.whole(device.now)? as c_uint),
        NVML_FI_DEV_POWER_AVERAGE => milli(&spec.power_average_w),
        NVML_FI_DEV_POWER_INSTANT => milli(&spec.power_instant_w),
        _ => Err(NOT_SUPPORTED),
    }
}

fn put_milli(device: &Device, watts: &Reading, out: &Out<c_uint>) -> Answer {
    out.put((watts.at(device.now)? * 1e3).round() as c_uint)
}

//! The entry points, by topic. Two macros define them, so that each goes through the gate.

/// Defines calls about a device: `fn name(inputs; outputs) |device| { … }`, where
/// an output `x: T` is an argument of type `*mut T` that the body sees as `Out<T>`.
macro_rules! device_calls {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($arg:ident: $ty:ty),* $(; $($out:ident: $out_ty:ty),+)?) |$device:ident| $body:block
    )*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// As in the C header: each pointer is null or fits its argument.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            device: nvml_wrapper_sys::bindings::nvmlDevice_t,
            $($arg: $ty,)*
            $($($out: *mut $out_ty,)+)?
        ) -> nvml_wrapper_sys::bindings::nvmlReturn_t {
            $($(
                // SAFETY: the caller passes null or a place for this answer.
                let $out = unsafe { $crate::out::Out::new($out) };
            )+)?
            $crate::gate::on_device($crate::calls::Call::$name, device, |$device| $body)
        }
    )* };
}

/// Defines calls about the system, as `device_calls` does.
macro_rules! system_calls {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($arg:ident: $ty:ty),* $(; $($out:ident: $out_ty:ty),+)?) |$state:ident, $now:ident| $body:block
    )*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// As in the C header: each pointer is null or fits its argument.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            $($arg: $ty,)*
            $($($out: *mut $out_ty,)+)?
        ) -> nvml_wrapper_sys::bindings::nvmlReturn_t {
            $($(
                // SAFETY: the caller passes null or a place for this answer.
                let $out = unsafe { $crate::out::Out::new($out) };
            )+)?
            $crate::gate::on_system($crate::calls::Call::$name, None, |$state, $now| $body)
        }
    )* };
}

mod clocks;
mod handles;
mod health;
mod identity;
mod memory;
mod mig;
mod modes;
mod pcie;
mod processes;
mod system;
mod telemetry;

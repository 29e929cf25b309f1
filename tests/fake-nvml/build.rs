//! Keeps the library loaded once it is: a client that closes it after a failed init
//! would otherwise start its time and the counters of its faults over.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}

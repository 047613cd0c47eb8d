// SPDX-License-Identifier: MIT
//! What src/ffi.rs says itself is what the library has.
#[test]
fn the_versions_agree() {
    assert_eq!(lockstep_threads::version(), env!("CARGO_PKG_VERSION"));
    // SAFETY: no arguments.
    assert_eq!(unsafe { lockstep_threads::ffi::lockstep_c_version() } / 1000, 1);
    assert!(lockstep_threads::build_info().unwrap().contains(": "));
    assert!(lockstep_threads::usable_cpus() >= 1);
}

#[test]
fn the_options_have_the_layout_of_the_header() {
    let size = std::mem::size_of::<lockstep_threads::ffi::lockstep_team_options>();
    let mut options = std::mem::MaybeUninit::<lockstep_threads::ffi::lockstep_team_options>::zeroed();
    // SAFETY: room for the structure.
    unsafe {
        assert_eq!(lockstep_threads::ffi::lockstep_team_options_init(options.as_mut_ptr(), size), 0);
        assert_eq!(options.assume_init().size, size);
    }
}

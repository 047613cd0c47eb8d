// SPDX-License-Identifier: MIT
//! src/ffi.rs says what lockstep.h says: names, numbers of parameters, constants.
use std::collections::BTreeMap;
use std::path::Path;

fn header() -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for root in ["vendor", "../.."] {
        if let Ok(text) = std::fs::read_to_string(here.join(root).join("bindings/c/lockstep.h")) {
            return text;
        }
    }
    panic!("no lockstep.h, neither in vendor/ nor in the repository");
}

/// Without comments, on one line.
fn plain(text: &str) -> String {
    let mut rest = text;
    let mut result = String::new();
    while let Some(begin) = rest.find("/*") {
        result.push_str(&rest[..begin]);
        rest = &rest[begin..];
        rest = &rest[rest.find("*/").expect("comments end") + 2..];
    }
    result.push_str(rest);
    result
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""))
        .collect::<Vec<_>>()
        .join(" ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// For each function its number of parameters. `mark` stands before declarations.
fn functions(text: &str, mark: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for declaration in text.split(mark).skip(1) {
        let Some(open) = declaration.find('(') else { continue };
        let close = open + declaration[open..].find(')').expect("a parameter list ends");
        let name = declaration[..open].split([' ', '*']).next_back().expect("a name").to_string();
        let parameters = declaration[open + 1..close].trim().trim_end_matches(',');
        let count = if parameters.is_empty() || parameters == "void" { 0 } else { parameters.split(',').count() };
        if name.starts_with("lockstep_") {
            found.insert(name, count);
        }
    }
    found
}

/// For each name the integer that stands after it.
fn constants(text: &str, names: &[String], between: &[&str]) -> BTreeMap<String, i64> {
    let mut found = BTreeMap::new();
    for name in names {
        for separator in between {
            if let Some(place) = text.find(&format!("{name}{separator}")) {
                let value = text[place + name.len() + separator.len()..].trim_start_matches("INT64_C(");
                let end = value.find(|c: char| c != '-' && !c.is_ascii_digit()).unwrap_or(value.len());
                if let Ok(number) = value[..end].parse() {
                    found.insert(name.clone(), number);
                }
            }
        }
    }
    found
}

#[test]
fn functions_have_the_parameters_of_the_header() {
    let declared = functions(&plain(&header()), "LOCKSTEP_C_API ");
    let used = functions(&plain(include_str!("../src/ffi.rs")), "pub fn ");
    assert!(used.len() > 60, "{used:?}");
    for (name, count) in &used {
        assert_eq!(declared.get(name), Some(count), "{name}");
    }
}

#[test]
fn constants_have_the_values_of_the_header() {
    let text = plain(include_str!("../src/ffi.rs"));
    let mut mine = BTreeMap::new();
    for declaration in text.split("pub const ").skip(1) {
        let name = declaration[..declaration.find(':').expect("a type")].to_string();
        let value = &declaration[declaration.find('=').expect("a value") + 1..];
        if let Ok(number) = value[..value.find(';').expect("an end")].trim().parse::<i64>() {
            mine.insert(name, number);
        }
    }
    assert!(mine.len() > 30, "{mine:?}");
    let names: Vec<String> = mine.keys().cloned().collect();
    assert_eq!(mine, constants(&plain(&header()), &names, &[" = ", " "]));
}

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

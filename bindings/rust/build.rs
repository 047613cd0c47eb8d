// SPDX-License-Identifier: MIT
//! Where liblockstep_c comes from: a library that LOCKSTEP_C_LIBRARY names, an installed one where LOCKSTEP_SYSTEM is 1,
//! else the C++ sources, which lie in `vendor` of a packaged crate, or beside the crate in the repository. Also writes what
//! `src/ffi.rs` includes: the constants, callbacks and functions of lockstep.h.
use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=LOCKSTEP_C_LIBRARY");
    println!("cargo:rerun-if-env-changed=LOCKSTEP_SYSTEM");
    declare();
    if env::var_os("DOCS_RS").is_some() {
        return; // documentation needs no library
    }
    if let Some(library) = env::var_os("LOCKSTEP_C_LIBRARY").filter(|path| !path.is_empty()) {
        use_file(Path::new(&library));
    } else if env::var("LOCKSTEP_SYSTEM").is_ok_and(|said| said == "1") {
        use_installed();
    } else {
        compile();
    }
}

/// Where the sources are.
fn root() -> PathBuf {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let vendored = here.join("vendor");
    if vendored.is_dir() {
        vendored
    } else {
        here.join("../..")
    }
}

fn declare() {
    let header = root().join("bindings/c/lockstep.h");
    println!("cargo:rerun-if-changed={}", header.display());
    let text = std::fs::read_to_string(&header).unwrap_or_else(|error| {
        fail(&format!("{}: {error}; package the crate with scripts/make/crate.py", header.display()));
    });
    let declared = in_rust(&plain(&text));
    let place = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    std::fs::write(place.join("ffi.rs"), declared).expect("a directory of ours");
}

/// C without comments, on one line.
fn plain(text: &str) -> String {
    let mut result = String::new();
    for part in text.split("/*") {
        result.push_str(part.split_once("*/").map_or(part, |(_, after)| after));
    }
    result.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn in_rust(header: &str) -> String {
    let mut out = String::new();
    for list in header.split("enum { ").skip(1).filter_map(|rest| rest.split('}').next()) {
        for (name, value) in list.split(',').filter_map(|each| each.split_once(" = ")) {
            let _ = writeln!(out, "pub const {}: c_int = {};", name.trim(), value.trim());
        }
    }
    for rest in header.split("#define LOCKSTEP_POLICY_").skip(1) {
        let (name, value) = rest.split_once(" INT64_C(").expect("a policy is a number");
        let _ = writeln!(out, "pub const LOCKSTEP_POLICY_{name}: i64 = {};", value.split(')').next().expect("an end"));
    }
    for declaration in header.split("typedef ").skip(1).filter_map(|rest| rest.split(';').next()) {
        if let Some((result, (name, rest))) =
            declaration.split_once(" (*").and_then(|(a, b)| Some((a, b.split_once(")(")?)))
        {
            let _ =
                writeln!(out, "pub type {name} = unsafe extern \"C\" fn({}){};", parameters(rest), returned(result));
        }
    }
    out.push_str("extern \"C\" {\n");
    for declaration in header.split("LOCKSTEP_C_API ").skip(1).filter_map(|rest| rest.split(';').next()) {
        if let Some((head, rest)) = declaration.split_once('(').filter(|(head, _)| head.contains(" lockstep_")) {
            let (result, name) = head.rsplit_once(' ').expect("a result and a name");
            let _ = writeln!(out, "    pub fn {name}({}){};", parameters(rest), returned(result));
        }
    }
    out.push_str("}\n");
    out
}

fn parameters(list: &str) -> String {
    let list = list.trim_end_matches(')');
    if list == "void" {
        return String::new();
    }
    let one = |each: &str| {
        let (kind, name) = each.trim().rsplit_once(' ').expect("a type and a name");
        format!("{name}: {}", type_of(kind))
    };
    list.split(',').map(one).collect::<Vec<_>>().join(", ")
}

fn returned(kind: &str) -> String {
    if kind == "void" {
        String::new()
    } else {
        format!(" -> {}", type_of(kind))
    }
}

fn type_of(kind: &str) -> String {
    if let Some(to) = kind.strip_suffix('*') {
        let (way, to) = to.strip_prefix("const ").map_or(("mut", to), |to| ("const", to));
        return format!("*{way} {}", type_of(to));
    }
    match kind {
        "int" => "c_int",
        "char" => "c_char",
        "void" => "c_void",
        "size_t" => "usize",
        "int64_t" => "i64",
        "uint64_t" => "u64",
        "double" => "f64",
        "float" => "f32",
        other => other,
    }
    .to_string()
}

/// A liblockstep_c that was built before: shared, or an archive beside that of lockstep itself.
fn use_file(library: &Path) {
    let library = library.canonicalize().unwrap_or_else(|error| {
        fail(&format!("LOCKSTEP_C_LIBRARY names {}: {error}", library.display()));
    });
    println!("cargo:rerun-if-changed={}", library.display());
    let directory = library.parent().expect("a file is in a directory").display();
    println!("cargo:rustc-link-search=native={directory}");
    if library.extension().is_some_and(|extension| extension == "a") {
        println!("cargo:rustc-link-lib=static=lockstep_c");
        println!("cargo:rustc-link-lib=static=lockstep");
        link_runtime();
    } else {
        println!("cargo:rustc-link-lib=dylib=lockstep_c");
        // For tests and examples of this crate. Programs that depend on it find the library by their own means.
        println!("cargo:rustc-link-arg=-Wl,-rpath,{directory}");
    }
}

fn use_installed() {
    let output = Command::new(env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into()))
        .args(["--libs", "lockstep-c"])
        .output()
        .unwrap_or_else(|error| fail(&format!("LOCKSTEP_SYSTEM=1 asks pkg-config, which cannot be run: {error}")));
    if !output.status.success() {
        fail(&format!(
            "LOCKSTEP_SYSTEM=1, but pkg-config knows no lockstep-c: install it ('cmake --install', or a package), say where \
             with PKG_CONFIG_PATH, or leave LOCKSTEP_SYSTEM out to compile the sources. It said: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    for word in String::from_utf8_lossy(&output.stdout).split_whitespace() {
        if let Some(directory) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={directory}");
            println!("cargo:rustc-link-arg=-Wl,-rpath,{directory}");
        } else if let Some(name) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={name}");
        }
    }
}

fn compile() {
    let root = root();
    let interface = root.join("bindings/c/src");
    if !interface.is_dir() {
        fail(
            "no C++ sources, neither in vendor/ nor in ../..: package the crate with scripts/make/crate.py, or set \
             LOCKSTEP_SYSTEM=1 or LOCKSTEP_C_LIBRARY",
        );
    }
    for directory in ["include", "src", "bindings/c"] {
        println!("cargo:rerun-if-changed={}", root.join(directory).display());
    }
    let mut sources: Vec<PathBuf> = interface
        .read_dir()
        .expect("a directory that is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cpp"))
        .collect();
    sources.sort();
    sources.push(root.join("src/lockstep.cpp"));
    // Debug builds of the crate diagnose misuse, as those of C++ programs do. The code is optimised in both: it is a library.
    let diagnoses = if env::var_os("CARGO_CFG_DEBUG_ASSERTIONS").is_some() { "1" } else { "0" };
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(2)
        .debug(false)
        .warnings(false)
        .flag_if_supported("-fvisibility=hidden")
        .define("LOCKSTEP_DIAGNOSE_MISUSE", diagnoses)
        .define("NDEBUG", None)
        .include(root.join("include"))
        .include(root.join("bindings/c"))
        .files(&sources)
        .compile("lockstep_c");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system != "windows" && system != "macos") {
        println!("cargo:rustc-link-lib=pthread");
    }
}

fn link_runtime() {
    let is_apple = env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor == "apple");
    println!("cargo:rustc-link-lib=dylib={}", if is_apple { "c++" } else { "stdc++" });
}

fn fail(text: &str) -> ! {
    eprintln!("lockstep: {text}");
    std::process::exit(1);
}

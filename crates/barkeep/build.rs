//! Notes which commit and features a program is built from, for its certificates.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=BARKEEP_COMMIT={}", commit().unwrap_or_else(|| "unknown".to_owned()));
    let mut features: Vec<String> = std::env::vars()
        .filter_map(|(name, _)| {
            name.strip_prefix("CARGO_FEATURE_").map(|name| name.to_lowercase().replace('_', "-"))
        })
        .collect();
    features.sort();
    println!("cargo:rustc-env=BARKEEP_FEATURES={}", features.join(","));
}

/// The commit that is checked out, marked where files differ from it; none outside a checkout, and in debug builds, which
/// would be built anew after every commit.
fn commit() -> Option<String> {
    if std::env::var("PROFILE").ok()? != "release" {
        return None;
    }
    let folder = std::env::var("CARGO_MANIFEST_DIR").ok()?;
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(&folder).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    // A copy of the sources inside another project's checkout has that project's commits.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    let commit = git(&["rev-parse", "HEAD"])?;
    for name in ["HEAD", "logs/HEAD"] {
        let path = std::path::Path::new(&folder).join(git(&["rev-parse", "--git-path", name])?);
        println!("cargo:rerun-if-changed={}", path.display());
    }
    println!("cargo:rerun-if-changed=src");
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { commit } else { format!("{commit}-modified") })
}

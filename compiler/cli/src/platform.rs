//! What differs between operating systems.

use std::fs::Metadata;

/// Whether a path is a device: some never end.
#[cfg(unix)]
pub(crate) fn is_device(found: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    found.file_type().is_char_device() || found.file_type().is_block_device()
}

/// Devices are no files elsewhere.
#[cfg(not(unix))]
pub(crate) fn is_device(_found: &Metadata) -> bool {
    false
}

/// Lets a temporary file become one like any new file: what the user's umask leaves.
#[cfg(unix)]
pub(crate) fn as_any_new_file(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(std::fs::Permissions::from_mode(0o666));
}

/// New files are alike elsewhere.
#[cfg(not(unix))]
pub(crate) fn as_any_new_file(_builder: &mut tempfile::Builder<'_, '_>) {}

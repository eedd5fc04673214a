#if Archive
internal import CArchive
#endif

/// Whether this build has libarchive (package trait `Archive`).
///
/// Without it there is no ``ZIPWriter``, and code that names it stands inside `#if Archive`.
package enum ArchiveLibrary {
    package static var isAvailable: Bool {
        #if Archive
        true
        #else
        false
        #endif
    }

    /// The library that is running, not the one of the build.
    package static var summary: String {
        #if Archive
        unsafe String(cString: archive_version_string())
        #else
        "built without libarchive: no folders as ZIP files"
        #endif
    }
}

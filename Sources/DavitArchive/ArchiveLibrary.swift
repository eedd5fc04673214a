#if Archive
internal import CArchive
#endif

/// Whether this build includes libarchive (package trait `Archive`).
///
/// Without libarchive, there is no ``ZIPWriter``, and code that uses that type must be inside `#if Archive`.
package enum ArchiveLibrary {
    package static var isAvailable: Bool {
        #if Archive
        true
        #else
        false
        #endif
    }

    /// The version of the library at run time, which may differ from that at build time.
    package static var summary: String {
        #if Archive
        unsafe String(cString: archive_version_string())
        #else
        "built without libarchive: ZIP downloads are unavailable"
        #endif
    }
}

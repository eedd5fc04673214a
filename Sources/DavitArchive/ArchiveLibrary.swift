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
}

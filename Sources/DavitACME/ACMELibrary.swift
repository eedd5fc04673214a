/// Whether this build includes libcurl for ACME (package trait `ACME`).
package enum ACMELibrary {
    package static var isAvailable: Bool {
        #if ACME
        true
        #else
        false
        #endif
    }
}

/// Whether this build includes libcurl (package trait `OIDC`).
package enum OIDCLibrary {
    package static var isAvailable: Bool {
        #if OIDC
        true
        #else
        false
        #endif
    }
}

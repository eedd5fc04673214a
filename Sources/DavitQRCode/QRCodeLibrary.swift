/// Whether this build includes libqrencode (package trait `QRCode`). Without it, no ``QRCode`` can be
/// created.
package enum QRCodeLibrary {
    package static var isAvailable: Bool {
        #if QRCode
        true
        #else
        false
        #endif
    }
}

#if QRCode
internal import CQRCode
#endif

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

    /// The version of the library at run time, which may differ from that at build time.
    package static var summary: String {
        #if QRCode
        unsafe String(cString: QRcode_APIVersionString())
        #else
        "built without libqrencode: QR codes are unavailable"
        #endif
    }
}

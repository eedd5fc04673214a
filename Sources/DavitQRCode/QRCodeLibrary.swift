#if QRCode
internal import CQRCode
#endif

/// Whether this build has libqrencode (package trait `QRCode`). Without it, no text has a ``QRCode``.
package enum QRCodeLibrary {
    package static var isAvailable: Bool {
        #if QRCode
        true
        #else
        false
        #endif
    }

    /// The library that is running, not the one of the build.
    package static var summary: String {
        #if QRCode
        unsafe String(cString: QRcode_APIVersionString())
        #else
        "built without libqrencode: no QR codes"
        #endif
    }
}

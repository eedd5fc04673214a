#if QRCode
internal import CQRCode
#endif

/// A text as a QR code (ISO/IEC 18004): a square of dark and light modules.
package struct QRCode: Hashable, Sendable {
    /// The number of modules on each side, without the quiet zone.
    package let size: Int
    /// The modules row by row; true is dark.
    private let modules: [Bool]

    /// The width of the light margin that readers require, in modules (§6.3.8).
    static let quietZone = 4

    /// Encodes `text` with error correction level M, which tolerates damage to 15% of the code, in the
    /// smallest possible size.
    ///
    /// - Returns: nil if the text is empty or longer than about 2,300 bytes, or in a build without
    ///   libqrencode.
    package init?(encoding text: [UInt8]) {
        #if QRCode
        guard let count = Int32(exactly: text.count), count > 0,
            let code = unsafe QRcode_encodeData(count, text, 0, QR_ECLEVEL_M)
        else { return nil }
        defer { unsafe QRcode_free(code) }
        size = Int(unsafe code.pointee.width)
        // The lowest bit is the color of the module.
        modules = unsafe UnsafeBufferPointer(start: code.pointee.data, count: size * size).map { $0 & 1 == 1 }
        #else
        return nil
        #endif
    }

    package init?(encoding text: String) { self.init(encoding: Array(text.utf8)) }

    /// Whether a module is dark; false outside the square, in the quiet zone.
    package func isDark(row: Int, column: Int) -> Bool {
        guard 0..<size ~= row, 0..<size ~= column else { return false }
        return modules[row * size + column]
    }
}

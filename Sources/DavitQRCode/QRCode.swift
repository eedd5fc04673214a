#if QRCode
internal import CQRCode
#endif

/// A text as a square of dark and light modules (ISO/IEC 18004).
package struct QRCode: Hashable, Sendable {
    /// Modules on each side, without the quiet zone.
    package let size: Int
    /// Row by row; true is dark.
    private let modules: [Bool]

    /// Modules of the light margin that a reader needs (§6.3.8).
    static let quietZone = 4

    /// With the error correction M, which bears 15 % of dirt, in the smallest size that holds the text.
    ///
    /// - Returns: nil if it is too long, some 2,300 bytes, or empty; and without libqrencode.
    package init?(encoding text: [UInt8]) {
        #if QRCode
        guard let count = Int32(exactly: text.count), count > 0,
            let code = unsafe QRcode_encodeData(count, text, 0, QR_ECLEVEL_M)
        else { return nil }
        defer { unsafe QRcode_free(code) }
        size = Int(unsafe code.pointee.width)
        // The lowest bit is the colour.
        modules = unsafe UnsafeBufferPointer(start: code.pointee.data, count: size * size).map { $0 & 1 == 1 }
        #else
        return nil
        #endif
    }

    package init?(encoding text: String) { self.init(encoding: Array(text.utf8)) }

    /// False outside the square, where the quiet zone is.
    package func isDark(row: Int, column: Int) -> Bool {
        guard 0..<size ~= row, 0..<size ~= column else { return false }
        return modules[row * size + column]
    }
}

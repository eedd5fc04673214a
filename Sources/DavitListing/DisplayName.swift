/// Formats names for display, like `visible` in `href.js`, but without changing control characters, which the
/// HTML encoder replaces.
///
/// Invalid UTF-8 and bidirectional control characters become U+FFFD: with such a character, a program whose
/// name ends in `gpj.exe` looks like an image that ends in `exe.jpg`. Text in right-to-left scripts does not
/// need these characters.
package enum DisplayName {
    package static func text(_ name: [UInt8]) -> String {
        let text = String(decoding: name, as: UTF8.self)
        // Fast path: in UTF-8, all characters to be replaced begin with one of these bytes, which few names
        // contain.
        guard name.contains(where: { $0 == 0xE2 || $0 == 0xD8 }) else { return text }
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { shown.append(isBidiControl(scalar) ? "\u{FFFD}" : scalar) }
        return String(shown)
    }

    /// Whether a scalar is a bidirectional mark, embedding, override or isolate (UAX #9 §2).
    private static func isBidiControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

/// The type of pictures, videos, sounds and documents by the first bytes of their content.
enum MediaSignature {
    /// The types that are recognized.
    static let types = [
        "image/png", "image/jpeg", "image/gif", "image/webp", "image/heic", "image/avif", "image/bmp",
        "image/tiff",
        "video/mp4", "video/quicktime", "video/webm", "video/x-matroska", "video/x-msvideo", "audio/mpeg",
        "audio/mp4", "audio/wav", "audio/ogg", "audio/flac", "application/pdf", "application/zip",
    ]

    /// Returns nil for other content.
    static func type(of bytes: [UInt8]) -> String? {
        func has(_ text: [UInt8], at offset: Int = 0) -> Bool {
            bytes.count >= offset + text.count && bytes[offset..<offset + text.count].elementsEqual(text)
        }
        func has(_ text: String, at offset: Int = 0) -> Bool { has(Array(text.utf8), at: offset) }
        if has([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
        if has([0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
        if has("GIF87a") || has("GIF89a") { return "image/gif" }
        if has("RIFF"), has("WEBP", at: 8) { return "image/webp" }
        if has("RIFF"), has("WAVE", at: 8) { return "audio/wav" }
        if has("RIFF"), has("AVI ", at: 8) { return "video/x-msvideo" }
        if has("BM"), bytes.count >= 14 { return "image/bmp" }
        if has([0x49, 0x49, 0x2A, 0]) || has([0x4D, 0x4D, 0, 0x2A]) { return "image/tiff" }
        if has("%PDF-") { return "application/pdf" }
        if has("OggS") { return "audio/ogg" }
        if has("fLaC") { return "audio/flac" }
        if has([0x50, 0x4B, 3, 4]) { return "application/zip" }
        if has("ID3") || bytes.count >= 2 && bytes[0] == 0xFF && bytes[1] & 0xE6 == 0xE2 {
            return "audio/mpeg"
        }
        if has([0x1A, 0x45, 0xDF, 0xA3]) {
            let isWebM = bytes.prefix(64).split(separator: 0x82).contains {
                $0.dropFirst().starts(with: "webm".utf8)
            }
            return isWebM ? "video/webm" : "video/x-matroska"
        }
        guard has("ftyp", at: 4), bytes.count >= 12 else { return nil }
        switch String(decoding: bytes[8..<12], as: UTF8.self) {
        case "heic", "heix", "heim", "heis", "mif1": return "image/heic"
        case "avif", "avis": return "image/avif"
        case "qt  ": return "video/quicktime"
        case "M4A ", "M4B ": return "audio/mp4"
        default: return "video/mp4"
        }
    }
}

/// The width and the height of an image in pixels.
struct ImageSize: Hashable {
    var width: Int
    var height: Int

    /// Reads the size from the content of a PNG, JPEG, GIF, WebP or BMP image; nil for other content.
    static func of(_ bytes: [UInt8]) -> ImageSize? {
        func big(_ offset: Int, _ count: Int) -> Int {
            bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        func little(_ offset: Int, _ count: Int) -> Int {
            bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        switch MediaSignature.type(of: bytes) {
        case "image/png" where bytes.count >= 24: return ImageSize(width: big(16, 4), height: big(20, 4))
        case "image/gif" where bytes.count >= 10: return ImageSize(width: little(6, 2), height: little(8, 2))
        case "image/bmp" where bytes.count >= 26:
            // A negative height means that the rows are stored from the top.
            let height = Int(Int32(truncatingIfNeeded: little(22, 4)))
            return ImageSize(width: little(18, 4), height: abs(height))
        case "image/webp" where bytes.count >= 30:
            switch String(decoding: bytes[12..<16], as: UTF8.self) {
            case "VP8X": return ImageSize(width: little(24, 3) + 1, height: little(27, 3) + 1)
            case "VP8L":
                let bits = little(21, 4)
                return ImageSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
            case "VP8 ": return ImageSize(width: little(26, 2) & 0x3FFF, height: little(28, 2) & 0x3FFF)
            default: return nil
            }
        case "image/jpeg": return jpeg(bytes, big)
        default: return nil
        }
    }

    /// Finds the frame header among the segments.
    private static func jpeg(_ bytes: [UInt8], _ big: (Int, Int) -> Int) -> ImageSize? {
        var index = 2
        while index + 9 <= bytes.count {
            guard bytes[index] == 0xFF else { return nil }
            let marker = bytes[index + 1]
            switch marker {
            case 0xFF: index += 1
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                return ImageSize(width: big(index + 7, 2), height: big(index + 5, 2))
            case 0x01, 0xD0...0xD8: index += 2
            default: index += 2 + max(big(index + 2, 2), 2)
            }
        }
        return nil
    }
}

/// Formats numbers of bytes for display.
package enum ByteCount {
    private static let units = ["kB", "MB", "GB", "TB", "PB", "EB"]

    /// Returns a text such as `999 B`, `1.0 kB`, `12 kB` or `1.5 GB`: decimal units, rounded half up; from 1
    /// kB, at least two digits.
    package static func text(_ bytes: Int64) -> String {
        let bytes = max(0, bytes)
        if bytes < 1000 { return "\(bytes) B" }
        var unit = 0
        var size: Int64 = 1000
        // Use the next unit from 999.5, which would be rounded to "1000".
        while unit + 1 < units.count, bytes >= size * 1000 - size / 2 {
            size *= 1000
            unit += 1
        }
        let tenths = bytes / (size / 10) + (bytes % (size / 10) >= size / 20 ? 1 : 0)
        if tenths < 100 { return "\(tenths / 10).\(tenths % 10) \(units[unit])" }
        let whole = bytes / size + (bytes % size >= size / 2 ? 1 : 0)
        return "\(whole) \(units[unit])"
    }
}

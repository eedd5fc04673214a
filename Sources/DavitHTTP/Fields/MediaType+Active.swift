extension MediaType {
    /// True for the types in which a browser runs scripts: they must not get the origin of the server.
    public static func isActive(_ type: StaticString) -> Bool {
        activeTypes.contains { active in
            guard type.utf8CodeUnitCount >= active.utf8CodeUnitCount else { return false }
            return active.withUTF8Buffer { prefix in
                type.withUTF8Buffer { unsafe $0.starts(with: prefix) }
            }
        }
    }

    /// The same for a value of Content-Type, in any case.
    public static func isActive(_ type: borrowing Span<UInt8>) -> Bool {
        for active in activeTypes where type.startsIgnoringCase(with: active) { return true }
        return false
    }

    private static let activeTypes: [StaticString] = [
        "text/html", "application/xhtml+xml", "image/svg+xml", "text/xml", "application/xml",
    ]
}

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

    private static let activeTypes: [StaticString] = [
        "text/html", "application/xhtml+xml", "image/svg+xml", "text/xml", "application/xml",
    ]
}

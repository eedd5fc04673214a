internal import DavitHTTP

/// Where the state of a share belongs when nobody says so.
package enum StateFolderName {
    /// The longest part of a path that is kept readable, in bytes; names have 255 at most.
    private static let readableBytes = 200

    /// `$XDG_STATE_HOME/davit/KEY`, or `~/.local/state/davit/KEY`; KEY is a name made of the share's path.
    ///
    /// - Parameters:
    ///   - share: the canonical path of the shared folder.
    ///   - environment: looks up a variable.
    /// - Throws: ``Failure/noStateFolder``.
    package static func path(
        forShare share: [UInt8], environment: (String) -> String?
    ) throws(Failure) -> String {
        guard let base = base(environment: environment) else { throw .noStateFolder }
        return base + "/" + key(forShare: share)
    }

    /// The user's folder for everything that davit keeps; nil if the user has no place for such things.
    package static func base(environment: (String) -> String?) -> String? {
        // The XDG Base Directory Specification: relative paths are invalid and ignored.
        if let base = environment("XDG_STATE_HOME"), base.hasPrefix("/") { return base + "/davit" }
        guard let home = environment("HOME"), home.hasPrefix("/") else { return nil }
        return home + "/.local/state/davit"
    }

    /// A file name, readable for the people who look there. Different paths have different names, long ones as
    /// far as 64 bits of a hash tell them apart.
    static func key(forShare share: [UInt8]) -> String {
        var encoded: [UInt8] = []
        PercentCoding.append(share, to: &encoded)
        guard encoded.count > readableBytes else { return String(decoding: encoded, as: UTF8.self) }
        let start = String(decoding: encoded.prefix(readableBytes), as: UTF8.self)
        return start + "~" + String(hash(share), radix: 16)
    }

    /// FNV-1a, 64 bits.
    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }
}

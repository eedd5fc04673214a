internal import DavitHTTP
package import DavitListing

/// The order of members on the page. Folders come first, and names break ties, so that no two members have
/// the same position.
package struct FolderOrder: Hashable, Sendable {
    package enum Key: String, CaseIterable, Sendable { case name, size, date }

    package var key = Key.name
    package var isDescending = false

    package init(_ key: Key = .name, isDescending: Bool = false) {
        self.key = key
        self.isDescending = isDescending
    }

    package func precedes(_ a: ListingEntry, _ b: ListingEntry) -> Bool {
        if a.isCollection != b.isCollection { return a.isCollection }
        return isDescending ? ascends(b, a) : ascends(a, b)
    }

    private func ascends(_ a: ListingEntry, _ b: ListingEntry) -> Bool {
        switch key {
        // Folders have no size.
        case .size where !a.isCollection && a.length != b.length: return a.length < b.length
        case .date where a.modified != b.modified: return a.modified < b.modified
        case .name, .size, .date: return NaturalOrder.precedes(a.name, b.name)
        }
    }
}

extension ListingEntry {
    /// The sort keys and the name of a member, as text for a URL. They determine its position in every sort
    /// order, even after the member is deleted.
    package var place: String {
        var name: [UInt8] = []
        PercentCoding.append(self.name, to: &name)
        let kind = isCollection ? "c" : "f"
        return "\(kind).\(length).\(modified.nanoseconds).\(String(decoding: name, as: UTF8.self))"
    }

    /// - Returns: nil for invalid text.
    package init?(place: String) {
        let parts = place.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "c" || parts[0] == "f", let length = Int64(parts[1]),
            let nanoseconds = Int64(parts[2]), let name = PercentCoding.decode(Array(parts[3].utf8)),
            !name.isEmpty
        else { return nil }
        self.init(
            name: name, isCollection: parts[0] == "c", length: length,
            modified: Timestamp(nanoseconds: nanoseconds))
    }
}

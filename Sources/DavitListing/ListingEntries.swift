internal import DavitHTTP
package import DavitStore

/// The entries of a listing, with little memory for each: a listing may be kept until a slow client has received it.
package struct ListingEntries: Sendable {
    private struct Record {
        let nameStart: Int
        let nameLength: UInt32
        let isCollection: Bool
        let length: Int64
        let modified: Timestamp

        var name: Range<Int> { nameStart..<(nameStart + Int(nameLength)) }
    }

    /// All names, in the order in which they were added.
    private var names: [UInt8] = []
    private var records: [Record] = []

    package init() {}

    package var count: Int { records.count }
    /// The total size of the names in bytes.
    package var nameBytes: Int { names.count }

    package mutating func append(_ member: Member) {
        records.append(
            Record(
                nameStart: names.count, nameLength: UInt32(member.name.count),
                isCollection: member.info.isCollection, length: member.info.length,
                modified: member.info.modified))
        names.append(contentsOf: member.name)
    }

    /// Sorts the entries in the order of ``ListingEntry/precedes(_:_:)``.
    package mutating func sort() {
        let names = names
        records.sort { a, b in
            if a.isCollection != b.isCollection { return a.isCollection }
            return NaturalOrder.precedes(names.span.extracting(a.name), names.span.extracting(b.name))
        }
    }

    /// Stores an entry in `entry`, whose memory is reused.
    package func copy(_ index: Int, to entry: inout ListingEntry) {
        let record = records[index]
        entry.name.removeAll(keepingCapacity: true)
        entry.name.append(contentsOf: names[record.name])
        entry.isCollection = record.isCollection
        entry.length = record.length
        entry.modified = record.modified
    }
}

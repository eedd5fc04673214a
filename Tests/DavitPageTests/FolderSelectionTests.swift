import DavitHTTP
import DavitListing
import DavitPage
import DavitTesting
import Testing

/// Selecting the members of one page without storing the others.
struct FolderSelectionTests {
    static func entry(_ number: Int) -> ListingEntry {
        ListingEntry(
            name: Array("f\(number)".utf8), isCollection: number % 7 == 0,
            length: Int64(number * 7919 % 1000),
            modified: Timestamp(seconds: Int64(number * 104_729 % 500)))
    }

    static let orders = FolderOrder.Key.allCases.flatMap {
        [FolderOrder($0), FolderOrder($0, isDescending: true)]
    }

    // The oracle sorts all entries.
    @Test(arguments: orders)
    func pagesAreConsecutiveInBothDirections(order: FolderOrder) {
        let entries = (0..<1003).map(Self.entry)
        let sorted = entries.sorted(by: order.precedes)
        var generator = SeededGenerator(seed: 7)
        var edge = FolderSelection.Edge.start
        var seen: [ListingEntry] = []
        var starts: [ListingEntry] = []
        while true {
            let selection = FolderSelection(order, from: edge, limit: 50)
            for entry in entries.shuffled(using: &generator) { selection.take(entry) }
            let page = selection.finish()
            #expect(page.first == seen.count)
            #expect(page.count == 1003)
            seen += page.entries
            guard let first = page.entries.first, let last = page.entries.last else { break }
            starts.append(first)
            // Use the position as parsed from a URL.
            guard let place = ListingEntry(place: last.place) else {
                Issue.record("\(last.place)")
                break
            }
            #expect(page.isLast == (seen.count == 1003))
            if page.isLast { break }
            edge = .after(place)
        }
        #expect(seen == sorted)
        for (index, start) in starts.enumerated().reversed() where index > 0 {
            let selection = FolderSelection(order, from: .before(start), limit: 50)
            for entry in entries.shuffled(using: &generator) { selection.take(entry) }
            let page = selection.finish()
            #expect(page.first == (index - 1) * 50)
            #expect(page.entries == Array(sorted[(index - 1) * 50..<index * 50]))
        }
    }

    @Test func removedPositionIsStillValid() {
        let selection = FolderSelection(FolderOrder(), from: .after(Self.entry(15)), limit: 3)
        for number in [10, 11, 12, 16, 17, 18, 19] { selection.take(Self.entry(number)) }
        #expect(selection.finish().entries == [16, 17, 18].map(Self.entry))
    }

    static let broken = [
        "", "f", "f.1.2", "x.1.2.a", "f.a.2.b", "f.1.b.a", "f.1.2.", "f.1.2.%", "f.99999999999999999999.2.a",
    ]

    @Test(arguments: broken) func invalidPositionsAreRefused(text: String) {
        #expect(ListingEntry(place: text) == nil)
    }

    @Test func positionPreservesAnyName() {
        for name: [UInt8] in [[0xFF, 0x2E, 0x0A], Array("a.b%2F".utf8), Array("ü".utf8)] {
            let entry = ListingEntry(
                name: name, isCollection: true, length: .max, modified: Timestamp(nanoseconds: -1))
            #expect(ListingEntry(place: entry.place) == entry)
        }
    }

    typealias Find = (text: String, name: String, matches: Bool)

    static let finds: [Find] = [
        ("a", "xAx", true), ("AB", "cab", true), ("ab", "a b", false), ("ü", "Ü.txt", true),
        // Composed and decomposed characters.
        ("ü", "u\u{308}.txt", true), ("u\u{308}", "ü", true), ("中", "a中b", true), (".", "a", false),
        ("abc", "ab", false),
    ]

    @Test(arguments: finds) func filterMatchesPartsOfNames(row: Find) throws {
        let filter = try #require(NameFilter(row.text))
        #expect(filter.matches(Array(row.name.utf8)) == row.matches)
    }

    @Test func emptyTextIsNoFilter() { #expect(NameFilter("") == nil) }
}

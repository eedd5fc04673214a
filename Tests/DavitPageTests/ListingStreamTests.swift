import DavitHTTP
import DavitListing
import DavitStore
import Synchronization
import Testing

/// Listings that are written in pieces.
struct ListingStreamTests {
    /// Members in batches of 100.
    private final class Members: MemberPages, Sendable {
        private let rest: Mutex<ArraySlice<String>>

        init(_ names: [String]) { rest = Mutex(names[...]) }

        func next() async throws(HTTPError) -> [Member] {
            let names = rest.withLock { rest in
                defer { rest = rest.dropFirst(100) }
                return rest.prefix(100)
            }
            return names.map { name in
                Member(
                    name: Array(name.utf8),
                    info: ResourceInfo(
                        kind: name.hasPrefix("d") ? .collection : .content, length: Int64(name.utf8.count),
                        modified: Timestamp(seconds: Int64(name.utf8.count)), created: nil,
                        identity: ResourceIdentity(inode: 1, birth: 0), volume: 0, isExecutable: false))
            }
        }

        func work<T: Sendable>(_ body: @escaping @Sendable () -> T) async throws(HTTPError) -> T { body() }
    }

    /// One line for each entry, and the number of entries that have been rendered.
    private final class Lines: ListingFormat {
        let count = Atomic<Int>(0)

        static func appendFields(to fields: inout HTTPFields) {}
        func appendHead(to buffer: inout [UInt8]) { buffer.append(contentsOf: "head\n".utf8) }
        func append(_ entry: ListingEntry, isFirst: Bool, to buffer: inout [UInt8]) {
            count.add(1, ordering: .relaxed)
            #expect(entry.length == Int64(entry.name.count))
            #expect(entry.modified.seconds == entry.length)
            buffer.append(contentsOf: entry.name + (entry.isCollection ? "/\n" : "\n").utf8)
        }
        func appendFoot(isEmpty: Bool, to buffer: inout [UInt8]) {
            buffer.append(contentsOf: (isEmpty ? "empty" : "foot").utf8)
        }
        func appendFootOfIncomplete(to buffer: inout [UInt8]) -> Bool { false }
    }

    private static func stream(_ names: [String], _ format: Lines = Lines()) async throws -> any BodyStream {
        guard case .stream(let stream) = try await format.response(Members(names)).body else {
            throw HTTPError(.internalServerError, "not a stream")
        }
        return stream
    }

    private static func text(_ names: [String]) async throws -> [Substring] {
        let stream = try await stream(names)
        let buffer = IOBuffer(capacity: 10_000)
        var bytes: [UInt8] = []
        repeat {
            buffer.removeAll()
            try await stream.next(into: buffer)
            unsafe buffer.withBytes { unsafe bytes.append(contentsOf: $0) }
        } while buffer.count > 0
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    @Test func entriesAreSorted() async throws {
        #expect(try await Self.text([]) == ["head", "empty"])
        #expect(
            try await Self.text(["f10", "d2", "F2", "f2", "f02", "d10", "f"])
                == ["head", "d2/", "d10/", "f", "F2", "f02", "f2", "f10", "foot"])
    }

    @Test func sortedEntriesAreLimited() async throws {
        for (count, isSorted) in [(10_000, true), (10_001, false)] {
            let names = (0..<count).map { "f\(count - $0)" }
            let lines = try await Self.text(names)
            #expect(lines.count == count + 2)
            #expect(lines[1] == (isSorted ? "f1" : "f\(count)"))
            if !isSorted { #expect(lines.dropFirst().dropLast() == names.map { Substring($0) }[...]) }
        }
    }

    /// Names of exactly 1 MiB in total are sorted.
    @Test func sortedNamesAreLimited() async throws {
        for (excess, isSorted) in [(0, true), (1, false)] {
            let names = (0..<1_024).map { number in
                let digits = "\(2_000 - number)"
                return "f\(digits)"
                    + String(repeating: "n", count: 1_023 - digits.count + (number == 7 ? excess : 0))
            }
            #expect(names.reduce(0) { $0 + $1.utf8.count } == 1 << 20 + excess)
            let lines = try await Self.text(names)
            #expect(lines.count == names.count + 2)
            #expect(lines[1].hasPrefix(isSorted ? "f977n" : "f2000n"))
        }
    }

    /// A slow client keeps the entries, but the text of few of them.
    @Test func fewEntriesAreRenderedAtATime() async throws {
        let format = Lines()
        let names = (0..<1_000).map { "f\($0)" + String(repeating: "n", count: 1_000) }
        let stream = try await Self.stream(names, format)
        let buffer = IOBuffer(capacity: 100)
        for _ in 0..<10 {
            buffer.removeAll()
            try await stream.next(into: buffer)
        }
        #expect(1...66 ~= format.count.load(ordering: .relaxed))
    }
}

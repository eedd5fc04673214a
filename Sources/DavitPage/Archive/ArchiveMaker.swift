#if Archive
internal import DavitArchive
internal import DavitEngine
internal import DavitHTTP
internal import DavitStore

/// Makes an archive, a piece at a time. Memory stays flat, but for what the directory at the end needs.
///
/// What cannot be read is left out, and content that ends early is filled with zeros: the report says of both. Where the
/// length was promised, there is no room for that, and the archive fails instead.
///
/// Its calls block. It belongs to one task, which lends it to one job of the pool at a time and waits for it: that is what
/// makes the unchecked conformance true.
final class ArchiveMaker: @unchecked Sendable {
    /// Bytes of a piece, about; and those of content that it takes at most, however well that compresses.
    private static let pieceBytes = 192 << 10, contentBytes = 1 << 20
    private static let readBytes = 128 << 10
    private static let stepLimit = 512

    private enum Phase { case walking, reporting, ended }

    private let walk: CollectionWalk
    private let layout: ArchiveLayout
    private let isPromised: Bool
    private let now: Timestamp
    private let writer: ZIPWriter
    private let buffer = IOBuffer(capacity: readBytes)
    /// What the walk has found already.
    private let entries: [CollectionWalk.Found]
    @safe @exclusivity(unchecked) private var nextEntry = 0
    @safe @exclusivity(unchecked) private var report: ArchiveReport
    @safe @exclusivity(unchecked) private var phase = Phase.walking
    /// What is being read.
    @safe @exclusivity(unchecked) private var content: (found: CollectionWalk.Found, file: WalkedContent)?
    @safe @exclusivity(unchecked) private var offset: Int64 = 0
    /// The open entry still has to be filled.
    @safe @exclusivity(unchecked) private var isFilling = false

    init(_ survey: ArchiveSurvey, _ layout: ArchiveLayout, isPromised: Bool, now: Timestamp)
        throws(ArchiveError)
    {
        walk = survey.walk
        entries = survey.entries
        report = survey.report
        self.layout = layout
        self.isPromised = isPromised
        self.now = now
        writer = try ZIPWriter()
    }

    /// The promise of a length cannot be kept.
    struct BrokenPromise: Error {}

    /// Makes the next piece.
    /// - Throws: ``BrokenPromise``, or what the library says.
    func makePiece() throws {
        var steps = 0
        var budget = Self.contentBytes
        while phase != .ended, writer.count < Self.pieceBytes, steps < Self.stepLimit, budget > 0 {
            steps += 1
            try step(&budget)
        }
    }

    var hasEnded: Bool { phase == .ended && writer.count == 0 }

    /// Hands out what is made.
    func take(into buffer: IOBuffer) {
        unsafe writer.take { unsafe buffer.append($0) }
    }

    private func step(_ budget: inout Int) throws {
        if isFilling {
            budget -= Self.readBytes / 2
            isFilling = try writer.endEntry()
        } else if let content {
            try read(content.found, content.file, &budget)
        } else if phase == .reporting {
            try writeReport()
        } else if nextEntry < entries.count {
            nextEntry += 1
            try begin(entries[nextEntry - 1])
        } else {
            switch walk.next() {
            case .found(let found): try begin(found)
            case .trouble(let path, let trouble): try note(path, trouble)
            case .end: phase = .reporting
            }
        }
    }

    private func begin(_ found: CollectionWalk.Found) throws {
        var found = found
        if !found.info.isCollection {
            switch walk.open(found) {
            case .failure(let trouble): return try note(found.path, trouble)
            case .success(let file):
                // As long as it was said to be; else as it is now.
                if isPromised, file.length < found.info.length { throw BrokenPromise() }
                if !isPromised { found.info = file.info }
                content = (found, file)
                offset = 0
            }
        }
        let entry = layout.entry(of: found)
        guard entry.path.count <= ZIPEntry.pathLimit else {
            content = nil
            return try note(found.path, .unreadable)
        }
        try writer.begin(entry)
        if found.info.isCollection { isFilling = try writer.endEntry() }
    }

    private func read(_ found: CollectionWalk.Found, _ file: WalkedContent, _ budget: inout Int) throws {
        buffer.removeAll()
        let count = file.read(at: offset, into: buffer) ?? 0
        let rest = found.info.length - offset
        if count == 0, rest > 0 {
            if isPromised { throw BrokenPromise() }
            report.add(found.path, "could be read up to byte \(offset) only; the rest is zeros")
        }
        try unsafe buffer.withBytes { bytes throws(ArchiveError) in try unsafe writer.write(bytes) }
        offset += Int64(count)
        budget -= count
        if count == 0 || Int64(count) >= rest {
            content = nil
            isFilling = try writer.endEntry()
        }
    }

    private func note(_ path: [UInt8], _ trouble: CollectionWalk.Trouble) throws {
        if isPromised { throw BrokenPromise() }
        report.add(path, trouble)
    }

    private func writeReport() throws {
        if report.count > 0 {
            try writer.begin(layout.entry(of: report, now: now))
            try unsafe report.text.span.withUnsafeBytes { bytes throws(ArchiveError) in
                try unsafe writer.write(bytes)
            }
            while try writer.endEntry() {}
        }
        try writer.finish()
        phase = .ended
    }
}
#endif

/// A piece of an object that is a piece of some content.
package struct BlobSegment: Hashable, Sendable {
    /// The position in the content.
    package var start: Int64
    /// In bytes; at least 1.
    package var length: Int64
    package var object: BlobKey
    /// The position in the object.
    package var objectStart: Int64
    /// The SHA-256 of the whole object; empty if it is not known.
    package var digest: [UInt8]

    package init(start: Int64, length: Int64, object: BlobKey, objectStart: Int64 = 0, digest: [UInt8]) {
        self.start = start
        self.length = length
        self.object = object
        self.objectStart = objectStart
        self.digest = digest
    }

    package var end: Int64 { start + length }
}

/// The pieces of some content, in order and without gaps.
package struct SegmentMap: Hashable, Sendable {
    package private(set) var segments: [BlobSegment] = []

    package init() {}

    /// Returns nil if the segments do not follow each other from 0 on.
    package init?(_ segments: [BlobSegment]) {
        var end: Int64 = 0
        for segment in segments {
            guard segment.start == end, segment.length > 0 else { return nil }
            end = segment.end
        }
        self.segments = segments
    }

    /// In bytes.
    package var length: Int64 { segments.last?.end ?? 0 }

    /// Appends an object.
    package mutating func append(_ object: BlobKey, length: Int64, digest: [UInt8]) {
        segments.append(BlobSegment(start: self.length, length: length, object: object, digest: digest))
    }

    /// Puts an object over what is at `start`, and after the end. `start` must not be after the end.
    package mutating func overlay(_ object: BlobKey, at start: Int64, length: Int64, digest: [UInt8]) {
        precondition(start <= self.length, "there must be no gap")
        let end = start + length
        var result = pieces(0..<start)
        result.append(BlobSegment(start: start, length: length, object: object, digest: digest))
        if end < self.length { result += pieces(end..<self.length) }
        segments = result
    }

    /// Records the SHA-256 of an object.
    package mutating func setDigest(_ digest: [UInt8], of object: BlobKey) {
        for index in segments.indices where segments[index].object == object {
            segments[index].digest = digest
        }
    }

    /// Returns the rest of the segment that contains a position; nil at the end.
    package func piece(from position: Int64) -> BlobSegment? {
        guard let index = index(of: position) else { return nil }
        var piece = segments[index]
        piece.objectStart += position - piece.start
        piece.length -= position - piece.start
        piece.start = position
        return piece
    }

    /// Discards everything from `length` on.
    package mutating func truncate(to length: Int64) {
        if length < self.length { segments = pieces(0..<length) }
    }

    /// Appends other content.
    package mutating func append(_ other: SegmentMap) {
        let start = length
        for var segment in other.segments {
            segment.start += start
            segments.append(segment)
        }
    }

    /// Returns the pieces of a range, with their positions in the whole content.
    package func pieces(_ range: Range<Int64>) -> [BlobSegment] {
        var found: [BlobSegment] = []
        guard let first = index(of: range.lowerBound) else { return [] }
        for segment in segments[first...] {
            if segment.start >= range.upperBound { break }
            var piece = segment
            let lower = max(segment.start, range.lowerBound)
            let upper = min(segment.end, range.upperBound)
            if lower >= upper { continue }
            piece.start = lower
            piece.length = upper - lower
            piece.objectStart += lower - segment.start
            found.append(piece)
        }
        return found
    }

    /// Returns the index of the segment that contains a position; nil after the end.
    private func index(of position: Int64) -> Int? {
        var low = 0
        var high = segments.count
        while low < high {
            let middle = (low + high) / 2
            if segments[middle].end <= position { low = middle + 1 } else { high = middle }
        }
        return low < segments.count ? low : nil
    }
}

import DavitHTTP
import Testing

struct PreconditionsTests {
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"
    static let later = "Sun, 06 Nov 1994 08:49:38 GMT"
    static let now = Timestamp(seconds: 784_111_777 + 3600)
    /// Half a second after ``date``: HTTP dates have whole seconds.
    static let modified = Timestamp(nanoseconds: 784_111_777_500_000_000)

    enum Current: Sendable { case strong, weak, untagged, unmapped }

    static func evaluate(_ method: String, _ fields: [String], _ current: Current) throws
        -> PreconditionOutcome
    {
        let state: (tag: EntityTag?, modified: Timestamp)? =
            switch current {
            case .strong: (EntityTag(opaque: Array("a".utf8)), modified)
            case .weak: (EntityTag(opaque: Array("a".utf8), isWeak: true), modified)
            case .untagged: (nil, modified)
            case .unmapped: nil
            }
        return Preconditions.evaluate(try request(method, fields: fields), current: state, now: now)
    }

    static let forms: [(fields: [String], equal: PreconditionOutcome, exact: PreconditionOutcome)] = [
        (["If-None-Match: \"a\""], .notModified, .notModified),
        (["If-None-Match: \"a-gzip-1\""], .notModified, .proceed),
        (["If-None-Match: W/\"a-gzip-1\""], .notModified, .proceed),
        (["If-None-Match: \"b\", \"a-gzip-1\""], .notModified, .proceed),
        (["If-None-Match: \"b-gzip-1\""], .proceed, .proceed),
        (["If-None-Match: \"a-br-1\""], .proceed, .proceed),
        (["If-Match: \"a-gzip-1\""], .proceed, .failed), (["If-Match: W/\"a-gzip-1\""], .failed, .failed),
        (["If-Match: \"b-gzip-1\""], .failed, .failed), (["If-Match: \"a\""], .proceed, .proceed),
    ]

    /// RFC 9110 §8.8.3.3: representations with different content codings match if the request is about the
    /// content, not its bytes.
    @Test(arguments: forms)
    func tagsOfRepresentationsMatchWhereAllowed(
        fields: [String], equal: PreconditionOutcome, exact: PreconditionOutcome
    ) throws {
        let request = try request("GET", fields: fields)
        let current = (tag: EntityTag?.some(EntityTag(opaque: Array("a".utf8))), modified: Self.modified)
        #expect(
            Preconditions.evaluate(request, current: current, matchesAnyCoding: true, now: Self.now) == equal)
        #expect(Preconditions.evaluate(request, current: current, now: Self.now) == exact)
    }

    static let rows: [(method: String, fields: [String], current: Current, outcome: PreconditionOutcome)] = [
        ("GET", [], .strong, .proceed),
        // RFC 9110 §13.1.1: If-Match compares strongly.
        ("PUT", ["If-Match: \"a\""], .strong, .proceed),
        ("PUT", ["If-Match: \"b\""], .strong, .failed),
        ("PUT", ["If-Match: \"b\", , \"a\""], .strong, .proceed),
        ("PUT", ["If-Match: \"b\"", "If-Match: \"a\""], .strong, .proceed),
        ("PUT", ["If-Match: W/\"a\""], .strong, .failed),
        ("PUT", ["If-Match: \"a\""], .weak, .failed),
        ("PUT", ["If-Match: *"], .strong, .proceed),
        ("PUT", ["If-Match: *"], .untagged, .proceed),
        ("PUT", ["If-Match: *"], .unmapped, .failed),
        ("PUT", ["If-Match: \"a\""], .unmapped, .failed),
        ("PUT", ["If-Match: \"a\""], .untagged, .failed),
        ("GET", ["If-Match: \"b\""], .strong, .failed),
        ("PUT", ["If-Match: a"], .strong, .failed),
        ("PUT", ["If-Match:"], .strong, .failed),
        ("PUT", ["If-Match: *, \"a\""], .strong, .failed),
        ("PUT", ["If-Match: \"a\" \"b\""], .strong, .failed),
        // §13.1.4: If-Unmodified-Since compares whole seconds.
        ("PUT", ["If-Unmodified-Since: \(date)"], .strong, .proceed),
        ("PUT", ["If-Unmodified-Since: \(later)"], .strong, .proceed),
        ("PUT", ["If-Unmodified-Since: \(earlier)"], .strong, .failed),
        ("GET", ["If-Unmodified-Since: \(earlier)"], .strong, .failed),
        ("PUT", ["If-Unmodified-Since: yesterday"], .strong, .proceed),
        ("PUT", ["If-Unmodified-Since: \(earlier)", "If-Unmodified-Since: \(earlier)"], .strong, .proceed),
        ("PUT", ["If-Unmodified-Since: \(earlier)"], .unmapped, .proceed),
        ("PUT", ["If-Unmodified-Since: \(earlier)"], .untagged, .failed),
        // §13.2.2 steps 1 and 2: If-Match takes precedence.
        ("PUT", ["If-Match: \"a\"", "If-Unmodified-Since: \(earlier)"], .strong, .proceed),
        ("PUT", ["If-Match: \"b\"", "If-Unmodified-Since: \(later)"], .strong, .failed),
        // §13.1.2: If-None-Match compares weakly.
        ("GET", ["If-None-Match: \"a\""], .strong, .notModified),
        ("HEAD", ["If-None-Match: W/\"a\""], .strong, .notModified),
        ("GET", ["If-None-Match: \"a\""], .weak, .notModified),
        ("GET", ["If-None-Match: \"b\", \"a\""], .strong, .notModified),
        ("GET", ["If-None-Match: \"b\""], .strong, .proceed),
        ("GET", ["If-None-Match: *"], .untagged, .notModified),
        ("GET", ["If-None-Match: \"a\""], .untagged, .proceed),
        ("PUT", ["If-None-Match: *"], .strong, .failed),
        ("PUT", ["If-None-Match: *"], .untagged, .failed),
        ("PUT", ["If-None-Match: *"], .unmapped, .proceed),
        ("PUT", ["If-None-Match: \"a\""], .strong, .failed),
        ("PUT", ["If-None-Match: \"a\""], .unmapped, .proceed),
        // A malformed value is ignored. Joplin sends this one with every write.
        ("PUT", ["If-None-Match: JoplinIgnore-1"], .strong, .proceed),
        ("PROPFIND", ["If-None-Match: JoplinIgnore-1"], .strong, .proceed),
        ("GET", ["If-None-Match: a"], .strong, .proceed),
        // §13.1.3: If-Modified-Since applies only to GET and HEAD.
        ("GET", ["If-Modified-Since: \(date)"], .strong, .notModified),
        ("HEAD", ["If-Modified-Since: \(later)"], .strong, .notModified),
        ("GET", ["If-Modified-Since: \(earlier)"], .strong, .proceed),
        ("GET", ["If-Modified-Since: yesterday"], .strong, .proceed),
        ("GET", ["If-Modified-Since: \(date)"], .unmapped, .proceed),
        ("PUT", ["If-Modified-Since: \(date)"], .strong, .proceed),
        ("PROPFIND", ["If-Modified-Since: \(date)"], .strong, .proceed),
        // §13.2.2 steps 3 and 4: If-None-Match takes precedence, even if it is itself ignored.
        ("GET", ["If-None-Match: \"b\"", "If-Modified-Since: \(date)"], .strong, .proceed),
        ("GET", ["If-None-Match: \"a\"", "If-Modified-Since: \(earlier)"], .strong, .notModified),
        ("GET", ["If-None-Match: b", "If-Modified-Since: \(date)"], .strong, .proceed),
        // Steps 1 and 3 both apply.
        ("GET", ["If-Match: \"a\"", "If-None-Match: \"a\""], .strong, .notModified),
        ("PUT", ["If-Match: \"a\"", "If-None-Match: *"], .strong, .failed),
        ("GET", ["If-Unmodified-Since: \(date)", "If-Modified-Since: \(date)"], .strong, .notModified),
        // §13.2.1: these methods do not select a representation.
        ("OPTIONS", ["If-Match: \"b\"", "If-None-Match: *"], .strong, .proceed),
        ("TRACE", ["If-None-Match: *"], .strong, .proceed),
    ]

    @Test(arguments: rows)
    func preconditionsAreEvaluated(
        method: String, fields: [String], current: Current, outcome: PreconditionOutcome
    ) throws {
        #expect(try Self.evaluate(method, fields, current) == outcome)
    }

    /// RFC 9110 §13.1.5.
    static let ranges: [(method: String, fields: [String], applies: Bool)] = [
        ("GET", ["Range: bytes=0-1"], true),
        ("GET", [], false),
        ("HEAD", ["Range: bytes=0-1"], false),
        ("PUT", ["Range: bytes=0-1"], false),
        ("GET", ["If-Range: \"a\""], false),
        ("GET", ["Range: bytes=0-1", "If-Range: \"a\""], true),
        ("GET", ["Range: bytes=0-1", "If-Range: \"b\""], false),
        ("GET", ["Range: bytes=0-1", "If-Range: W/\"a\""], false),
        ("GET", ["Range: bytes=0-1", "If-Range: \(date)"], true),
        ("GET", ["Range: bytes=0-1", "If-Range: \(later)"], false),
        ("GET", ["Range: bytes=0-1", "If-Range: \(earlier)"], false),
        ("GET", ["Range: bytes=0-1", "If-Range: a"], false),
        ("GET", ["Range: bytes=0-1", "If-Range:"], false),
        ("GET", ["Range: bytes=0-1", "If-Range: *"], false),
        ("GET", ["Range: bytes=0-1", "If-Range: \"a\", \"b\""], false),
        ("GET", ["Range: bytes=0-1", "If-Range: \"a\"", "If-Range: \"a\""], false),
    ]

    @Test(arguments: ranges)
    func ifRangeDecidesWhetherRangesApply(method: String, fields: [String], applies: Bool) throws {
        let request = try request(method, fields: fields)
        let tag = EntityTag(opaque: Array("a".utf8))
        #expect(
            Preconditions.rangeApplies(request, tag: tag, modified: Self.modified, now: Self.now) == applies)
    }

    @Test func ifRangeNeedsAStrongValidator() throws {
        let byTag = try request("GET", fields: ["Range: bytes=0-1", "If-Range: \"a\""])
        let weak = EntityTag(opaque: Array("a".utf8), isWeak: true)
        #expect(!Preconditions.rangeApplies(byTag, tag: weak, modified: Self.modified, now: Self.now))
        #expect(!Preconditions.rangeApplies(byTag, tag: nil, modified: Self.modified, now: Self.now))
        // RFC 9110 §8.8.2.2: the content may change again within the same second.
        let byDate = try request("GET", fields: ["Range: bytes=0-1", "If-Range: \(Self.date)"])
        let within = Timestamp(nanoseconds: 784_111_777_900_000_000)
        #expect(!Preconditions.rangeApplies(byDate, tag: nil, modified: Self.modified, now: within))
        #expect(
            Preconditions.rangeApplies(
                byDate, tag: nil, modified: Self.modified, now: Timestamp(seconds: 784_111_778)))
    }
}

/// The result of evaluating the preconditions of a request.
public enum PreconditionOutcome: Hashable, Sendable {
    /// All preconditions hold.
    case proceed
    /// 304; for GET and HEAD only.
    case notModified
    /// 412: a precondition failed.
    case failed
}

/// Conditional requests (RFC 9110 §13).
public enum Preconditions {
    /// Evaluates the preconditions except If-Range in the order of §13.2.2.
    ///
    /// A malformed If-Match counts as false, because ignoring it could cause a lost update. Other malformed
    /// fields are ignored.
    ///
    /// - Parameters:
    ///   - current: entity tag and modification time of the current representation; nil if the resource does
    ///     not exist. The tag is nil for a collection.
    ///   - matchesAnyCoding: whether the resource also has a representation with a content coding and its own
    ///     entity tag (`EntityTag.coded(as:)`). Each tag then matches both representations, which is right
    ///     for detecting changes but not for resuming the download of one of them.
    ///   - now: the time of the request, for the century of RFC 850 dates.
    public static func evaluate(
        _ request: HTTPRequest, current: (tag: EntityTag?, modified: Timestamp)?,
        matchesAnyCoding: Bool = false, now: Timestamp
    ) -> PreconditionOutcome {
        let version = Version(
            exists: current != nil, tag: current?.tag, modified: current?.modified,
            matchesAnyCoding: matchesAnyCoding)
        return evaluate(request, version, now: now)
    }

    /// Evaluates the preconditions for a representation that may have a tag, a modification time, or both.
    /// - Parameter exists: whether the resource exists.
    package static func evaluate(
        _ request: HTTPRequest, exists: Bool = true, tag: EntityTag?, modified: Timestamp?, now: Timestamp
    ) -> PreconditionOutcome {
        let version = Version(exists: exists, tag: tag, modified: modified, matchesAnyCoding: false)
        return evaluate(request, version, now: now)
    }

    /// Whether the request has any precondition other than If-Range.
    package static func arePresent(in request: HTTPRequest) -> Bool {
        request.contains(.ifNoneMatch) || request.contains(.ifModifiedSince) || request.contains(.ifMatch)
            || request.contains(.ifUnmodifiedSince)
    }

    /// The state of the resource that preconditions are evaluated against.
    private struct Version {
        let exists: Bool
        let tag: EntityTag?
        let modified: Timestamp?
        let matchesAnyCoding: Bool
    }

    private static func evaluate(
        _ request: HTTPRequest, _ current: Version, now: Timestamp
    ) -> PreconditionOutcome {
        switch request.method {
        case .options, .trace, .connect: return .proceed  // §13.2.1: no representation is selected
        default: break
        }
        if request.contains(.ifMatch) {
            guard ifMatchHolds(request, current) else { return .failed }
        } else if let modified = current.modified,
            let date = date(of: .ifUnmodifiedSince, in: request, now: now)
        {
            guard modified.seconds <= date.seconds else { return .failed }
        }
        let isReading = request.method == .get || request.method == .head
        if request.contains(.ifNoneMatch) {
            if !ifNoneMatchHolds(request, current) { return isReading ? .notModified : .failed }
        } else if isReading, let modified = current.modified,
            let date = date(of: .ifModifiedSince, in: request, now: now)
        {
            if modified.seconds <= date.seconds { return .notModified }
        }
        return .proceed
    }

    /// Returns whether the Range field applies (step 5 of §13.2.2): true for a GET request with Range if
    /// If-Range is missing or holds (§13.1.5).
    ///
    /// A tag must match strongly. A date must match exactly and be before the current second, because the
    /// content can still change within that second (§8.8.2.2). A malformed If-Range does not hold.
    public static func rangeApplies(
        _ request: HTTPRequest, tag: EntityTag?, modified: Timestamp, now: Timestamp
    ) -> Bool {
        guard request.method == .get, request.contains(.range) else { return false }
        let count = request.count(of: .ifRange)
        if count == 0 { return true }
        guard count == 1 else { return false }
        let holds = request.withValue(of: .ifRange) { value in
            if let sent = EntityTag.parse(value) { return tag.map(sent.matchesStrongly) ?? false }
            guard let date = HTTPDate.parse(value, now: now) else { return false }
            return date.seconds == modified.seconds && modified.seconds < now.seconds
        }
        return holds ?? false
    }

    /// Evaluates If-Match with strong comparison (§13.1.1).
    private static func ifMatchHolds(_ request: HTTPRequest, _ current: Version) -> Bool {
        guard current.exists else { return false }
        switch list(of: .ifMatch, in: request) {
        case nil: return false
        case .any: return true
        case .tags(let tags):
            guard let tag = current.tag else { return false }
            if current.matchesAnyCoding { return tags.contains { $0.plain.matchesStrongly(tag.plain) } }
            return tags.contains { $0.matchesStrongly(tag) }
        }
    }

    /// Evaluates If-None-Match with weak comparison (§13.1.2).
    private static func ifNoneMatchHolds(_ request: HTTPRequest, _ current: Version) -> Bool {
        guard current.exists else { return true }
        if let tag = current.tag, isOnly(tag, in: .ifNoneMatch, of: request) { return false }
        switch list(of: .ifNoneMatch, in: request) {
        case nil: return true
        case .any: return false
        case .tags(let tags):
            guard let tag = current.tag else { return true }
            if current.matchesAnyCoding { return !tags.contains { $0.plain.matchesWeakly(tag.plain) } }
            return !tags.contains { $0.matchesWeakly(tag) }
        }
    }

    /// Whether the field consists of exactly this strong tag: a fast path for the most common value.
    private static func isOnly(_ tag: EntityTag, in name: FieldName, of request: HTTPRequest) -> Bool {
        guard !tag.isWeak, request.count(of: name) == 1 else { return false }
        let isEqual = request.withValue(of: name) { value in
            guard value.count == tag.opaque.count + 2, value[0] == UInt8(ascii: "\""),
                value[value.count - 1] == UInt8(ascii: "\"")
            else { return false }
            for index in tag.opaque.indices where value[index + 1] != tag.opaque[index] { return false }
            return true
        }
        return isEqual ?? false
    }

    /// Returns all lines of the field as one list; nil if it is malformed.
    private static func list(of name: FieldName, in request: HTTPRequest) -> EntityTagList? {
        guard let value = request.combinedBytes(of: name) else { return nil }
        return EntityTagList.parse(value.span)
    }

    /// Returns the date of a field that occurs once and is a valid date; else nil.
    private static func date(of name: FieldName, in request: HTTPRequest, now: Timestamp) -> Timestamp? {
        guard request.count(of: name) == 1 else { return nil }
        return request.withValue(of: name) { HTTPDate.parse($0, now: now) } ?? nil
    }
}

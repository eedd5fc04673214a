/// What the conditional fields of a request decide.
public enum PreconditionOutcome: Hashable, Sendable {
    /// Nothing stands in the way.
    case proceed
    /// 304; GET and HEAD only.
    case notModified
    /// 412.
    case failed
}

/// Conditional requests (RFC 9110 §13).
public enum Preconditions {
    /// Evaluates the conditional fields in the order of §13.2.2, If-Range excepted.
    ///
    /// A malformed If-Match is false, because ignoring it could lose an update; the other malformed fields
    /// are ignored, as clients send them and mean nothing by it.
    ///
    /// - Parameters:
    ///   - current: tag and time of the current representation; nil if nothing is mapped. A collection
    ///     exists without a tag.
    ///   - comparesForms: the content is also sent in a coding, under a tag of its own
    ///     (`EntityTag.coded(as:)`). Either tag then stands for both forms: for who asks whether the
    ///     content has changed, not for who wants to go on with the bytes of one form.
    ///   - now: the instant of the request, for the century of RFC 850 dates.
    public static func evaluate(
        _ request: HTTPRequest, current: (tag: EntityTag?, modified: Timestamp)?,
        comparesForms: Bool = false, now: Timestamp
    ) -> PreconditionOutcome {
        let version = Version(
            exists: current != nil, tag: current?.tag, modified: current?.modified,
            comparesForms: comparesForms)
        return evaluate(request, version, now: now)
    }

    /// The same for a representation that may have a tag, a time, or both.
    /// - Parameter exists: false if nothing is mapped.
    package static func evaluate(
        _ request: HTTPRequest, exists: Bool = true, tag: EntityTag?, modified: Timestamp?, now: Timestamp
    ) -> PreconditionOutcome {
        let version = Version(exists: exists, tag: tag, modified: modified, comparesForms: false)
        return evaluate(request, version, now: now)
    }

    /// Whether the request has any of the fields.
    package static func stand(in request: HTTPRequest) -> Bool {
        request.contains(.ifNoneMatch) || request.contains(.ifModifiedSince) || request.contains(.ifMatch)
            || request.contains(.ifUnmodifiedSince)
    }

    /// What conditions are compared with.
    private struct Version {
        let exists: Bool
        let tag: EntityTag?
        let modified: Timestamp?
        let comparesForms: Bool
    }

    private static func evaluate(
        _ request: HTTPRequest, _ current: Version, now: Timestamp
    ) -> PreconditionOutcome {
        switch request.method {
        case .options, .trace, .connect: return .proceed  // §13.2.1: they select no representation
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

    /// Step 5 of §13.2.2: whether the Range field is to be looked at. True for a GET with Range whose
    /// If-Range, if there is one, holds (§13.1.5).
    ///
    /// A tag must match strongly. A date must be the exact one and lie before the current second, as the
    /// content can still change within that (§8.8.2.2). A malformed If-Range does not hold.
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

    /// §13.1.1, strong comparison.
    private static func ifMatchHolds(_ request: HTTPRequest, _ current: Version) -> Bool {
        guard current.exists else { return false }
        switch list(of: .ifMatch, in: request) {
        case nil: return false
        case .any: return true
        case .tags(let tags):
            guard let tag = current.tag else { return false }
            if current.comparesForms { return tags.contains { $0.plain.matchesStrongly(tag.plain) } }
            return tags.contains { $0.matchesStrongly(tag) }
        }
    }

    /// §13.1.2, weak comparison.
    private static func ifNoneMatchHolds(_ request: HTTPRequest, _ current: Version) -> Bool {
        guard current.exists else { return true }
        if let tag = current.tag, isOnly(tag, in: .ifNoneMatch, of: request) { return false }
        switch list(of: .ifNoneMatch, in: request) {
        case nil: return true
        case .any: return false
        case .tags(let tags):
            guard let tag = current.tag else { return true }
            if current.comparesForms { return !tags.contains { $0.plain.matchesWeakly(tag.plain) } }
            return !tags.contains { $0.matchesWeakly(tag) }
        }
    }

    /// True if the field is this one tag as it was given out, which is what it nearly always is.
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

    /// All lines of the field as one list; nil if it is malformed.
    private static func list(of name: FieldName, in request: HTTPRequest) -> EntityTagList? {
        guard let value = request.combinedBytes(of: name) else { return nil }
        return EntityTagList.parse(value.span)
    }

    /// The date of a field that stands once and is one, else nil.
    private static func date(of name: FieldName, in request: HTTPRequest, now: Timestamp) -> Timestamp? {
        guard request.count(of: name) == 1 else { return nil }
        return request.withValue(of: name) { HTTPDate.parse($0, now: now) } ?? nil
    }
}

internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The effect of a PROPPATCH or extended MKCOL instruction.
enum PropertyEffect: Equatable {
    /// Stores or removes the row of a dead property, or of a live property that clients may set.
    case row
    case executable(Bool)
    /// Sets the modification time; nil leaves it unchanged.
    case modified(Timestamp?)
    /// The property is protected (RFC 4918 §15): 403.
    case protected
    /// The value is invalid for this property (RFC 4918 §9.2.1): 409.
    case unsuitable

    /// - Parameters:
    ///   - isCollection: whether the resource is a collection.
    ///   - now: the current time, for dates with two-digit years.
    init(_ instruction: PropertyUpdate.Instruction, isCollection: Bool, now: Timestamp) {
        guard let live = LiveProperty(instruction.name) else {
            self = Self.isSuitable(instruction, now: now) ? .row : .unsuitable
            return
        }
        guard case .set(_, let value) = instruction else {
            // §15.2: removing `displayname` removes the value that a client has set; the property remains.
            self = live == .displayname ? .row : .protected
            return
        }
        switch live {
        // §15.2: the value must be plain text.
        case .displayname: self = value.simpleText == nil ? .unsuitable : .row
        case .executable where !isCollection: self = Self.executable(value)
        case .getlastmodified:
            self = Self.date(value, now: now).map { .modified($0) } ?? .unsuitable
        case .lastmodified: self = Self.seconds(value).map { .modified($0) } ?? .unsuitable
        case .win32LastModifiedTime: self = Self.windowsTime(value, now: now)
        default: self = .protected
        }
    }

    private static func executable(_ value: PropertyValue) -> PropertyEffect {
        switch value.trimmedText {
        case "T": .executable(true)
        case "F": .executable(false)
        default: .unsuitable
        }
    }

    /// Parses seconds since 1970; ignores a fraction.
    private static func seconds(_ value: PropertyValue) -> Timestamp? {
        let parts = value.trimmedText.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, let seconds = Int64(whole), seconds.magnitude < earliest.magnitude,
            parts.count == 1 || parts[1].allSatisfy({ $0.isASCII && $0.isNumber })
        else { return nil }
        return Timestamp(seconds: seconds)
    }

    /// Returns the effect of a time set by Windows. For an unknown time, Windows sends the start of its epoch, in
    /// 1601, which is clamped to ``earliest``.
    private static func windowsTime(_ value: PropertyValue, now: Timestamp) -> PropertyEffect {
        if parsedDate(value, now: now)?.seconds == earliest { return .modified(nil) }
        return date(value, now: now).map { .modified($0) } ?? .unsuitable
    }

    /// Parses a date; returns nil if it is invalid or ``Timestamp`` cannot represent it.
    private static func date(_ value: PropertyValue, now: Timestamp) -> Timestamp? {
        parsedDate(value, now: now).flatMap { $0.seconds.magnitude < earliest.magnitude ? $0 : nil }
    }

    /// The earliest time, in 1677, in seconds since 1970. ``CivilTime`` clamps earlier dates to it.
    private static let earliest = -(Int64.max / 1_000_000_000)

    private static func parsedDate(_ value: PropertyValue, now: Timestamp) -> Timestamp? {
        let text = Array(value.trimmedText.utf8)
        return HTTPDate.parse(text.span, now: now)
    }

    // MARK: Dead properties with validated values

    /// Whether the value of a dead property is valid. Windows stores times and hexadecimal file attributes in dead
    /// properties, and expects to read back valid values.
    private static func isSuitable(_ instruction: PropertyUpdate.Instruction, now: Timestamp) -> Bool {
        guard case .set(let name, let value) = instruction else { return true }
        // GET returns the value as a header field.
        if name == .contentLanguage { return value.contentLanguage != nil }
        guard name.namespace == LiveProperty.windowsNamespace else { return true }
        switch name.local {
        case "Win32CreationTime", "Win32LastAccessTime": return parsedDate(value, now: now) != nil
        case "Win32FileAttributes":
            let text = value.trimmedText.utf8
            return 1...8 ~= text.count && UInt32(value.trimmedText, radix: 16) != nil
                && text.first != UInt8(ascii: "+")
        default: return true
        }
    }
}

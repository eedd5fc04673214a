internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// What one instruction of a PROPPATCH does; that of an extended MKCOL does the same, or is refused.
enum PropertyEffect: Equatable {
    /// A dead property, or a live one that clients may set, is kept as it was sent, or removed.
    case row
    case executable(Bool)
    /// The modification time; nil if it stays.
    case modified(Timestamp?)
    /// Not to be changed by clients (RFC 4918 §15): 403.
    case protected
    /// The value means nothing for this property (RFC 4918 §9.2.1): 409.
    case unsuitable

    /// - Parameters:
    ///   - isCollection: whether it is about a collection.
    ///   - now: for dates whose year has two digits.
    init(_ instruction: PropertyUpdate.Instruction, isCollection: Bool, now: Timestamp) {
        guard let live = LiveProperty(instruction.name) else {
            self = Self.isSuitable(instruction, now: now) ? .row : .unsuitable
            return
        }
        guard case .set(_, let value) = instruction else {
            // §15.2: what is removed is the client's value; the property stays.
            self = live == .displayname ? .row : .protected
            return
        }
        switch live {
        // §15.2: text, and nothing else.
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

    /// Seconds since 1970, with or without a fraction, which is dropped.
    private static func seconds(_ value: PropertyValue) -> Timestamp? {
        let parts = value.trimmedText.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, let seconds = Int64(whole), seconds.magnitude < earliest.magnitude,
            parts.count == 1 || parts[1].allSatisfy({ $0.isASCII && $0.isNumber })
        else { return nil }
        return Timestamp(seconds: seconds)
    }

    /// Windows counts from 1601 on, and sends that for a time that it does not know.
    private static func windowsTime(_ value: PropertyValue, now: Timestamp) -> PropertyEffect {
        if parsedDate(value, now: now)?.seconds == earliest { return .modified(nil) }
        return date(value, now: now).map { .modified($0) } ?? .unsuitable
    }

    /// Nil also for a year that no ``Timestamp`` holds.
    private static func date(_ value: PropertyValue, now: Timestamp) -> Timestamp? {
        parsedDate(value, now: now).flatMap { $0.seconds.magnitude < earliest.magnitude ? $0 : nil }
    }

    /// What years before 1678 become.
    private static let earliest = -(Int64.max / 1_000_000_000)

    private static func parsedDate(_ value: PropertyValue, now: Timestamp) -> Timestamp? {
        let text = Array(value.trimmedText.utf8)
        return HTTPDate.parse(text.span, now: now)
    }

    // MARK: Dead properties with a meaning

    /// What Windows keeps beside the modification time: it reads back what it has set, and takes it for granted that
    /// it is a date, or attributes in hexadecimal.
    private static func isSuitable(_ instruction: PropertyUpdate.Instruction, now: Timestamp) -> Bool {
        guard case .set(let name, let value) = instruction else { return true }
        // GET sends it as a field.
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

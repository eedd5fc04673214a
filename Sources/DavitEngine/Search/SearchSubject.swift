internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The resource being evaluated, with the values that a query can access. Belongs to one ``SearchEvaluator``.
final class SearchSubject {
    @safe @exclusivity(unchecked) private(set) var member = Member()
    /// Canonical path.
    @safe @exclusivity(unchecked) private var path = ResourcePath.root
    @safe @exclusivity(unchecked) private var properties: [StoredProperty] = []
    private let resources: any ResourceStore

    init(_ resources: any ResourceStore) { self.resources = resources }

    func begin(_ member: Member, at path: ResourcePath, _ properties: [StoredProperty]) {
        self.member = member
        self.path = path
        if !(properties.isEmpty && self.properties.isEmpty) { self.properties = properties }
    }

    /// Releases the properties, because they should not occupy memory while a slow client receives the response, and the name,
    /// so that the traversal can reuse its memory.
    func end() {
        if !properties.isEmpty { properties = [] }
        member.name = []
    }

    /// The value of a property, as seen by a query.
    enum Reading {
        /// PROPFIND would report 404 (RFC 5323 §5.5.3).
        case undefined
        /// The value contains elements; comparisons with it are unknown (§5.5.4).
        case structured
        case value(SearchValue, language: String?)
    }

    /// The last path segment in UTF-8, if it is the value of `displayname`; not necessarily valid.
    var ownName: [UInt8]? {
        member.name.isEmpty || properties.displayName != nil ? nil : member.name
    }

    /// - Throws: An error if the quota is required and cannot be determined.
    func read(_ property: LiveProperty) throws(WebDAVError) -> Reading {
        if property == .displayname, let value = properties.displayName {
            guard let (text, language) = value.simpleText else { return .structured }
            return .value(.text(text), language: language)
        }
        guard property.exists(of: member), !member.info.isPassage || !property.isTime else {
            return .undefined
        }
        if property == .checksums,
            properties.digests(of: member.info, at: ResourceLocation(path), in: resources).isEmpty
        {
            return .undefined
        }
        guard let value = try value(of: property) else { return .structured }
        return .value(value, language: nil)
    }

    func read(_ name: PropertyName) -> Reading {
        guard let property = properties.first(where: { $0.name == name }) else { return .undefined }
        guard let (text, language) = property.value.simpleText else { return .structured }
        return .value(.text(text), language: language)
    }

    /// Cost of reading a property in steps of a ``SearchMeter``: of reading an attribute of the file and parsing all stored values
    /// for the checksums; other live properties cost nothing.
    func steps(of property: LiveProperty) -> Int {
        guard property == .checksums else { return 0 }
        return properties.reduce(Self.attributeSteps + properties.count) { $0 + $1.value.element.count }
    }

    /// A few microseconds.
    private static let attributeSteps = 2_000

    /// Cost of finding a dead property and parsing its value.
    func steps(of name: PropertyName) -> Int {
        properties.count + 2 * (properties.first { $0.name == name }?.value.element.count ?? 0)
    }

    /// Returns nil for a property whose value contains elements.
    private func value(of property: LiveProperty) throws(WebDAVError) -> SearchValue? {
        let info = member.info
        switch property {
        case .displayname: return .text(String(decoding: member.name, as: UTF8.self))
        case .getcontentlength: return .integer(info.length)
        case .getcontenttype:
            if info.isCollection { return .text("httpd/unix-directory") }
            return .text(MediaType.forName(member.name).description)
        case .getetag:
            var tag: [UInt8] = []
            info.appendEncodedEntityTag(to: &tag)
            return .text(String(decoding: tag, as: UTF8.self))
        // In whole seconds, as in PROPFIND, so that a search for a value that a client has received finds the
        // resource.
        case .creationdate:
            return .instant(Timestamp(seconds: (properties.created ?? info.created ?? info.modified).seconds))
        case .lastmodified: return .integer(info.modified.seconds)
        case .getlastmodified, .win32LastModifiedTime:
            return .instant(Timestamp(seconds: info.modified.seconds))
        case .executable: return .text(info.isExecutable ? "T" : "F")
        case .quotaAvailableBytes, .quotaUsedBytes:
            let path = path
            let quota = try storing { () throws(StoreError) in try resources.quota(at: path) }
            return .integer(property == .quotaUsedBytes ? quota.used : quota.available)
        default: return nil
        }
    }
}

/// The property that an operator applies to.
enum SearchOperand: Hashable, Sendable {
    case live(LiveProperty)
    case dead(PropertyName)

    init(_ name: PropertyName) {
        self = LiveProperty(name).map { .live($0) } ?? .dead(name)
    }

    /// Whether its value may be stored in a database row.
    var mayHaveRow: Bool {
        switch self {
        case .live(let property): property.mayHaveRow
        case .dead: true
        }
    }

    /// Whether its value can be determined without reading the disk or the database.
    var isInMetadata: Bool {
        switch self {
        case .live(.getcontentlength), .live(.getlastmodified), .live(.win32LastModifiedTime),
            .live(.lastmodified):
            true
        default: false
        }
    }

    /// The type assumed for an untyped literal (RFC 5323 §5.10); nil for a property whose value contains
    /// elements.
    var type: SearchLiteral.ValueType? {
        switch self {
        case .live(let property): property.searchType
        case .dead: .string
        }
    }
}

extension LiveProperty {
    /// Whether the property is a time of the resource.
    var isTime: Bool {
        switch self {
        case .creationdate, .getlastmodified, .win32LastModifiedTime, .lastmodified: true
        default: false
        }
    }

    /// The type of its value in queries; nil if the value contains elements.
    var searchType: SearchLiteral.ValueType? {
        switch self {
        case .displayname, .getcontenttype, .getetag, .executable: .string
        case .getcontentlength, .quotaAvailableBytes, .quotaUsedBytes, .lastmodified: .integer
        case .creationdate, .getlastmodified, .win32LastModifiedTime: .dateTime
        default: nil
        }
    }
}

internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// A resource that is being looked at, and what a query can know of it.
struct SearchSubject {
    let member: Member
    /// Canonical.
    let path: ResourcePath
    let properties: [StoredProperty]
    let resources: any ResourceStore

    /// What a property is to a query.
    enum Reading {
        /// PROPFIND would say 404 (RFC 5323 §5.5.3).
        case undefined
        /// It has elements inside, and comparisons with it are unknown (§5.5.4).
        case structured
        case value(SearchValue, language: String?)
    }

    /// - Throws: when the disk cannot tell.
    func read(_ operand: SearchOperand) throws(WebDAVError) -> Reading {
        switch operand {
        case .live(let property):
            if property == .displayname, let value = properties.displayName {
                guard let (text, language) = value.simpleText else { return .structured }
                return .value(.text(text), language: language)
            }
            guard property.exists(of: member) else { return .undefined }
            if property == .checksums, properties.digests(of: member.info).isEmpty { return .undefined }
            guard let value = try value(of: property) else { return .structured }
            return .value(value, language: nil)
        case .dead(let name):
            guard let property = properties.first(where: { $0.name == name }) else { return .undefined }
            guard let (text, language) = property.value.simpleText else { return .structured }
            return .value(.text(text), language: language)
        }
    }

    /// What ``read(_:)`` costs, in steps of a ``SearchMeter``: for a dead property, finding it and parsing its value.
    func steps(of operand: SearchOperand) -> Int {
        switch operand {
        case .live(.checksums): properties.reduce(properties.count) { $0 + $1.value.element.count }
        case .live: 0
        case .dead(let name):
            properties.count + 2 * (properties.first { $0.name == name }?.value.element.count ?? 0)
        }
    }

    /// Nil for a property with elements inside.
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
        // To the second, as PROPFIND has them: what a client has read is equal to what it asks for.
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

/// The property that an operator is about.
enum SearchOperand: Hashable, Sendable {
    case live(LiveProperty)
    case dead(PropertyName)

    init(_ name: PropertyName) {
        self = LiveProperty(name).map { .live($0) } ?? .dead(name)
    }

    /// Whether its value may depend on a row.
    var mayHaveRow: Bool {
        switch self {
        case .live(let property): property.mayHaveRow
        case .dead: true
        }
    }

    /// As what a literal without a type is understood (RFC 5323 §5.10); nil for a property with elements inside.
    var type: SearchLiteral.ValueType? {
        switch self {
        case .live(let property): property.searchType
        case .dead: .string
        }
    }
}

extension LiveProperty {
    /// What type its value has for queries; nil if that has elements inside.
    var searchType: SearchLiteral.ValueType? {
        switch self {
        case .displayname, .getcontenttype, .getetag, .executable: .string
        case .getcontentlength, .quotaAvailableBytes, .quotaUsedBytes, .lastmodified: .integer
        case .creationdate, .getlastmodified, .win32LastModifiedTime: .dateTime
        default: nil
        }
    }
}

internal import DavitHTTP
internal import DavitStore
internal import DavitWebDAV

/// The properties this server computes (RFC 4918 §15, RFC 4331, RFC 5323 §3.3, RFC 5995, RFC 6578, the execute bit as
/// Apache names it, digests as ownCloud does, and one of our own).
enum LiveProperty: CaseIterable, Sendable {
    case creationdate, displayname, getcontentlength, getcontenttype, getetag, getlastmodified
    case lockdiscovery, resourcetype, supportedlock
    case quotaAvailableBytes, quotaUsedBytes
    case executable
    case addMember
    case supportedReportSet, syncToken
    /// RFC 5397, and what RFC 3744 has for everybody who only looks.
    case currentUserPrincipal, currentUserPrivilegeSet, supportedPrivilegeSet, principalCollectionSet
    /// Of principals alone (RFC 3744 §4).
    case principalURL, alternateURISet, groupMembership
    /// The modification time as Windows and rclone set it: in the form of `getlastmodified`, and in seconds since 1970.
    case win32LastModifiedTime, lastmodified
    /// Digests of the content as it is now, where they are known.
    case checksums
    case supportedQueryGrammarSet
    /// Who holds the locks of `lockdiscovery`, and since when.
    case lockDetails

    init?(_ name: PropertyName) {
        guard let property = Self.byName[name] else { return nil }
        self = property
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })

    static let executableNamespace = "http://apache.org/dav/props/"

    static let windowsNamespace = "urn:schemas-microsoft-com:"

    var name: PropertyName {
        switch self {
        case .creationdate: .dav("creationdate")
        case .displayname: .dav("displayname")
        case .getcontentlength: .dav("getcontentlength")
        case .getcontenttype: .dav("getcontenttype")
        case .getetag: .dav("getetag")
        case .getlastmodified: .dav("getlastmodified")
        case .lockdiscovery: .dav("lockdiscovery")
        case .resourcetype: .dav("resourcetype")
        case .supportedlock: .dav("supportedlock")
        case .quotaAvailableBytes: .dav("quota-available-bytes")
        case .quotaUsedBytes: .dav("quota-used-bytes")
        case .addMember: .dav("add-member")
        case .supportedReportSet: .dav("supported-report-set")
        case .syncToken: .dav("sync-token")
        case .currentUserPrincipal: .dav("current-user-principal")
        case .currentUserPrivilegeSet: .dav("current-user-privilege-set")
        case .supportedPrivilegeSet: .dav("supported-privilege-set")
        case .principalCollectionSet: .dav("principal-collection-set")
        case .principalURL: .dav("principal-URL")
        case .alternateURISet: .dav("alternate-URI-set")
        case .groupMembership: .dav("group-membership")
        case .lastmodified: .dav("lastmodified")
        case .win32LastModifiedTime:
            PropertyName(namespace: Self.windowsNamespace, local: "Win32LastModifiedTime")
        case .executable: PropertyName(namespace: Self.executableNamespace, local: "executable")
        case .checksums: PropertyName(namespace: Self.ownCloudNamespace, local: "checksums")
        case .supportedQueryGrammarSet: .dav("supported-query-grammar-set")
        case .lockDetails:
            PropertyName(namespace: LockDetailsWriter.namespace.description, local: "lock-details")
        }
    }

    /// Whether it may depend on a row: see ``Share/keep(_:at:of:)``.
    var mayHaveRow: Bool { self == .checksums || self == .creationdate || self == .displayname }

    /// Part of allprop: the properties of RFC 4918, not those that cost more or belong to others (RFC 4331 §2,
    /// RFC 3253 §3.1, RFC 6578 §4).
    var isInAllprop: Bool {
        switch self {
        case .creationdate, .displayname, .getcontentlength, .getcontenttype, .getetag, .getlastmodified,
            .lockdiscovery, .resourcetype, .supportedlock:
            true
        default: false
        }
    }

    /// Whether a resource has it, as far as that is said by what it is.
    func exists(of member: Member) -> Bool {
        switch self {
        case .getcontentlength, .getetag, .executable, .checksums: !member.info.isCollection
        case .addMember, .syncToken: member.info.isCollection
        // The root of a share has no name of its own; it can be given one.
        case .displayname: !member.name.isEmpty
        case .principalURL, .alternateURISet, .groupMembership: false
        case .creationdate, .getcontenttype, .getlastmodified, .lockdiscovery, .resourcetype, .supportedlock,
            .quotaAvailableBytes, .quotaUsedBytes, .supportedQueryGrammarSet, .supportedReportSet,
            .win32LastModifiedTime, .lastmodified, .currentUserPrincipal, .currentUserPrivilegeSet,
            .supportedPrivilegeSet, .principalCollectionSet, .lockDetails:
            true
        }
    }
}

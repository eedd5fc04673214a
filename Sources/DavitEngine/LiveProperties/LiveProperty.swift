internal import DavitHTTP
internal import DavitWebDAV

/// The properties this server computes (RFC 4918 §15, RFC 4331, RFC 6578, and the execute bit as Apache
/// names it).
enum LiveProperty: CaseIterable, Sendable {
    case creationdate, displayname, getcontentlength, getcontenttype, getetag, getlastmodified
    case lockdiscovery, resourcetype, supportedlock
    case quotaAvailableBytes, quotaUsedBytes
    case executable
    case supportedReportSet
    case syncToken

    init?(_ name: PropertyName) {
        guard let property = Self.byName[name] else { return nil }
        self = property
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })

    static let executableNamespace = "http://apache.org/dav/props/"

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
        case .supportedReportSet: .dav("supported-report-set")
        case .syncToken: .dav("sync-token")
        case .executable: PropertyName(namespace: Self.executableNamespace, local: "executable")
        }
    }

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
}

public import DavitHTTP
public import DavitServer

/// Options for serving a folder as a website.
public struct SiteOptions: Sendable {
    /// The names of index files; the first one that exists is served for a folder.
    public var indexNames = ["index.html"]
    /// Whether to list folders without an index, in natural order; otherwise requests for them receive 404.
    public var listsFolders = false
    /// The path, within the folder, of the page to serve with status 404. If it does not exist, the server
    /// sends a short default page.
    public var notFoundPage = "/404.html"
    /// How long caches may use files without revalidation, in seconds; 0 requires revalidation for each use,
    /// at the cost of a 304; nil omits the header field, so that browsers use heuristics.
    public var cacheAgeSeconds: Int? = 0
    /// The media types of file name extensions.
    public var types = MediaTypes()
    /// Whether to send `style.css.gz` for `style.css` to clients that accept gzip, unless the compressed file
    /// is older. Applies only to compressible media types.
    public var usesPrecompressed = true
    /// Whether to compress files of compressible types while sending them, if there is no precompressed file.
    public var compresses = true
    /// Whether to serve names that begin with a dot. Otherwise, resources with such a name anywhere in their
    /// path are not served, not even through links; `/.well-known` (RFC 8615) does not count as such a name.
    public var showsHidden = false
    /// Whether to follow symbolic links to targets inside the folder. Requests for other links receive 404.
    public var followsLinks = true
    /// The kind of redirect that adds the trailing slash to the URL of a folder.
    public var redirect = HTTPResponse.Redirect.movedPermanently

    /// The default options: `index.html`, no listings, no hidden files, and gzip where it is useful.
    public init() {}

    /// The rules for the header fields of content.
    public var contentRules: ContentResponseSettings {
        var rules = ContentResponseSettings()
        rules.types = types
        rules.cacheAgeSeconds = cacheAgeSeconds
        rules.sandboxesActiveContent = false
        rules.negotiatesCoding = usesPrecompressed || compresses
        return rules
    }
}

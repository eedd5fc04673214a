public import DavitHTTP
public import DavitServer

/// How a folder is served as a website.
public struct SiteOptions: Sendable {
    /// What is shown for a folder: the first of these names that is there.
    public var indexNames = ["index.html"]
    /// A folder without an index is listed, in the order people expect; else it is 404.
    public var listsFolders = false
    /// The page for what is not there, as a path in the folder; it is sent with status 404. If it is not there itself, the
    /// answer is a short page of the server's own.
    public var notFoundPage = "/404.html"
    /// How long caches may keep files without asking again, in seconds; 0 has them ask each time, which costs a 304; nil
    /// says nothing, and has browsers guess.
    public var cacheAgeSeconds: Int? = 0
    /// The types of names.
    public var types = MediaTypes()
    /// `style.css.gz` is sent for `style.css` to clients that take gzip, if it is not older. Only for types that get
    /// shorter by compression.
    public var usesPrecompressed = true
    /// Files of such types are compressed while they are sent, where there is no compressed one.
    public var compresses = true
    /// Names that begin with a dot are served, too. If not, nothing with such a name anywhere in its path is, under whatever
    /// link; but for `/.well-known` (RFC 8615).
    public var showsHidden = false
    /// Symbolic links are followed while they lead to something inside of the folder; else, and if they lead out of it,
    /// there is nothing.
    public var followsLinks = true
    /// How a browser is sent from a folder without its slash to the one with it.
    public var redirect = HTTPResponse.Redirect.movedPermanently

    /// `index.html`, no listings, nothing hidden, and gzip where it helps.
    public init() {}

    /// What the store says about content.
    public var contentRules: ContentRules {
        var rules = ContentRules()
        rules.types = types
        rules.cacheAgeSeconds = cacheAgeSeconds
        rules.sandboxesActiveContent = false
        rules.negotiatesCoding = usesPrecompressed || compresses
        return rules
    }
}

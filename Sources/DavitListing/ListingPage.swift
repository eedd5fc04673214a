public import DavitHTTP
internal import DavitServer

/// The HTML listing of a collection, written in pieces: head, entries, foot.
///
/// It contains no script and loads nothing. All links are relative, so that the page also works behind a
/// proxy that changes its path. Memory use does not depend on the number of entries.
public struct ListingPage: Sendable {
    /// The name of the root in the title and the first breadcrumb.
    private let rootName: String
    /// The decoded segments from the root to the collection.
    private let segments: [[UInt8]]
    /// The collection relative to the request URL; the prefix of all links.
    private let base: [UInt8]

    /// - Parameters:
    ///   - segments: the path of the collection, decoded; empty for the root.
    ///   - endsInSlash: whether the request path ends with a slash. Without it, browsers resolve relative
    ///     links against the parent collection.
    ///   - mountName: the last segment of the mount prefix, decoded; empty without a prefix.
    public init(
        rootName: String = "Files", segments: [[UInt8]], endsInSlash: Bool, mountName: [UInt8] = []
    ) {
        self.rootName = rootName
        self.segments = segments
        var base = Array("./".utf8)
        let last = segments.last ?? mountName
        if !endsInSlash, !last.isEmpty {
            PercentCoding.append(last, to: &base)
            base.append(UInt8(ascii: "/"))
        }
        self.base = base
    }

    /// Adds the header fields of the response. The content security policy permits nothing except the page's
    /// own style, by its hash.
    public static func appendFields(to fields: inout HTTPFields) {
        fields.append(.contentType, "text/html; charset=utf-8")
        fields.append(
            .contentSecurityPolicy,
            "default-src 'none'; style-src 'sha256-\(ListingStyle.hash)'; base-uri 'none'; "
                + "form-action 'none'; frame-ancestors 'none'")
        fields.append(.xContentTypeOptions, "nosniff")
        fields.append(.referrerPolicy, "no-referrer")
        // The browser cannot know when the folder changes.
        fields.append(.cacheControl, "no-cache")
    }

    /// Writes everything before the first row.
    public func appendHead(to buffer: inout [UInt8]) {
        Markup.append(
            """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>
            """, to: &buffer)
        appendTitle(to: &buffer)
        Markup.append("</title>\n", to: &buffer)
        Markup.append("<style>", to: &buffer)
        Markup.append(ListingStyle.text, to: &buffer)
        Markup.append("</style>\n", to: &buffer)
        Markup.append("</head>\n<body>\n<header>\n", to: &buffer)
        Markup.append("<nav aria-label=\"Breadcrumbs\"><ol>", to: &buffer)
        appendBreadcrumbs(to: &buffer)
        Markup.append("</ol></nav>\n<h1>", to: &buffer)
        appendTitle(to: &buffer)
        Markup.append(
            """
            </h1>
            </header>
            <main>
            <table>
            <thead><tr><th scope="col" class="n">Name</th><th scope="col" class="s">Size</th>\
            <th scope="col" class="d">Modified (UTC)</th>\
            <th scope="col" class="g"><span class="h">Download</span></th></tr></thead>
            <tbody>

            """, to: &buffer)
    }

    /// Writes one row.
    public func append(_ entry: ListingEntry, to buffer: inout [UInt8]) {
        Markup.append("<tr><th scope=\"row\" class=\"n\"><a class=\"", to: &buffer)
        Markup.append(entry.isCollection ? "c" : "f", to: &buffer)
        Markup.append("\" href=\"", to: &buffer)
        appendLink(to: entry, &buffer)
        Markup.append("\"><bdi>", to: &buffer)
        Self.appendName(entry.name, to: &buffer)
        Markup.append("</bdi>", to: &buffer)
        if entry.isCollection { Markup.append("<span class=\"h\"> (folder)</span>", to: &buffer) }
        Markup.append("</a></th><td class=\"s\">", to: &buffer)
        if !entry.isCollection { buffer.append(contentsOf: ByteCount.text(entry.length).utf8) }
        Markup.append("</td><td class=\"d\">", to: &buffer)
        if entry.hasTime { appendTime(entry.modified, to: &buffer) }
        Markup.append("</td><td class=\"g\">", to: &buffer)
        if !entry.isCollection { appendDownload(of: entry, to: &buffer) }
        Markup.append("</td></tr>\n", to: &buffer)
    }

    /// Writes everything after the last row.
    ///
    /// - Parameters:
    ///   - isEmpty: whether no row was written.
    ///   - isComplete: false if reading the collection failed; the page then reports it.
    public func appendFoot(isEmpty: Bool, isComplete: Bool = true, to buffer: inout [UInt8]) {
        Markup.append("</tbody>\n</table>\n", to: &buffer)
        if isEmpty, isComplete { Markup.append("<p class=\"e\">This folder is empty.</p>\n", to: &buffer) }
        if !isComplete {
            Markup.append(
                "<p class=\"e\" role=\"alert\">The folder could not be read completely.</p>\n", to: &buffer)
        }
        Markup.append("</main>\n</body>\n</html>\n", to: &buffer)
    }

    private static func appendName(_ name: [UInt8], to buffer: inout [UInt8]) {
        Markup.appendText(Array(DisplayName.text(name).utf8), to: &buffer)
    }

    private func appendTitle(to buffer: inout [UInt8]) {
        if let last = segments.last {
            Self.appendName(last, to: &buffer)
        } else {
            Markup.appendText(Array(rootName.utf8), to: &buffer)
        }
    }

    /// Writes the breadcrumbs; the last one is the current collection and not a link.
    private func appendBreadcrumbs(to buffer: inout [UInt8]) {
        for level in 0...segments.count {
            let name = level == 0 ? Array(rootName.utf8) : segments[level - 1]
            Markup.append("<li>", to: &buffer)
            if level == segments.count {
                Markup.append("<span aria-current=\"page\"><bdi>", to: &buffer)
            } else {
                Markup.append("<a href=\"", to: &buffer)
                buffer.append(contentsOf: base)
                for _ in level..<segments.count { Markup.append("../", to: &buffer) }
                Markup.append("\"><bdi>", to: &buffer)
            }
            Self.appendName(name, to: &buffer)
            Markup.append(level == segments.count ? "</bdi></span></li>" : "</bdi></a></li>", to: &buffer)
        }
    }

    private func appendLink(to entry: ListingEntry, _ buffer: inout [UInt8]) {
        buffer.append(contentsOf: base)
        PercentCoding.append(entry.name, to: &buffer)
        if entry.isCollection { buffer.append(UInt8(ascii: "/")) }
    }

    private func appendDownload(of entry: ListingEntry, to buffer: inout [UInt8]) {
        Markup.append("<a download href=\"", to: &buffer)
        appendLink(to: entry, &buffer)
        Markup.append("\" aria-label=\"Download ", to: &buffer)
        Self.appendName(entry.name, to: &buffer)
        Markup.append("\">Download</a>", to: &buffer)
    }

    /// Writes a time: to the minute as text, to the second in the attribute.
    private func appendTime(_ time: Timestamp, to buffer: inout [UInt8]) {
        let text = HTTPDate.iso8601(time)
        Markup.append("<time datetime=\"", to: &buffer)
        buffer.append(contentsOf: text)
        Markup.append("\">", to: &buffer)
        buffer.append(contentsOf: text[..<10])
        Markup.append(" ", to: &buffer)
        buffer.append(contentsOf: text[11..<16])
        Markup.append("</time>", to: &buffer)
    }
}

public import DavitHTTP
internal import DavitServer

/// The page a browser shows for a collection, written piece by piece: head, entries, foot.
///
/// It holds no script, loads nothing, and all its links are relative, so that it works behind a proxy that
/// puts it under another path. The pieces of a page of any length need constant memory.
public struct ListingPage: Sendable {
    /// What the root is called in the title and as the first breadcrumb.
    private let rootName: String
    /// The decoded segments from the root to the collection.
    private let segments: [[UInt8]]
    /// The collection itself, as seen from the URL of the request; all links begin with it.
    private let base: [UInt8]

    /// - Parameters:
    ///   - segments: of the path of the collection, decoded; none for the root.
    ///   - endsInSlash: whether the path of the request does. Without it, browsers resolve relative links
    ///     against the collection above.
    ///   - mountName: the last segment of the prefix in front of the root, decoded; none at the top.
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

    /// The fields of the response. The policy lets nothing run, load, frame or be sent; only the page's own
    /// style is named by its hash.
    public static func appendFields(to fields: inout HTTPFields) {
        fields.append(.contentType, "text/html; charset=utf-8")
        fields.append(
            .contentSecurityPolicy,
            "default-src 'none'; style-src 'sha256-\(ListingStyle.hash)'; base-uri 'none'; "
                + "form-action 'none'; frame-ancestors 'none'")
        fields.append(.xContentTypeOptions, "nosniff")
        fields.append(.referrerPolicy, "no-referrer")
        // A listing is as old as the folder, which the browser cannot know.
        fields.append(.cacheControl, "no-cache")
    }

    /// Everything before the first row.
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

    /// One row.
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
        appendTime(entry.modified, to: &buffer)
        Markup.append("</td><td class=\"g\">", to: &buffer)
        if !entry.isCollection { appendDownload(of: entry, to: &buffer) }
        Markup.append("</td></tr>\n", to: &buffer)
    }

    /// Everything behind the last row.
    ///
    /// - Parameters:
    ///   - isEmpty: no row was written.
    ///   - isComplete: false if the walk of the collection failed; the page then says so.
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
        Markup.appendText(Array(ShownName.text(name).utf8), to: &buffer)
    }

    private func appendTitle(to buffer: inout [UInt8]) {
        if let last = segments.last {
            Self.appendName(last, to: &buffer)
        } else {
            Markup.appendText(Array(rootName.utf8), to: &buffer)
        }
    }

    /// The way from the root; the last one is where we are, and no link.
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

    /// To the minute for people, to the second for programs.
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

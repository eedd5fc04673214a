/// The owner's settings for the browser page. All texts are plain text; markup in them is shown literally.
public struct PageSettings: Hashable, Sendable {
    /// Whether the page is enabled. If not, GET on a folder returns only header fields, and archives are not
    /// available; WebDAV and other form actions are not affected.
    public var isEnabled = true
    /// The name of the share, used as the title and the first breadcrumb. Nil for the name of the shared
    /// folder.
    public var title: String?
    /// ``title``, or `Files` without one.
    package var shownTitle: String { title ?? "Files" }
    /// The heading of the root; nil for ``title``.
    public var header: String?
    /// Text above the listing of the root, such as a few words of help. Line breaks are kept, and an empty
    /// line starts a new paragraph.
    public var prologue: String?
    /// Text below the listing of the root.
    public var epilogue: String?
    /// Text at the end of every page.
    public var footer: String?

    /// The maximum number of members counted before an archive is sent, and for HEAD. Archives with more
    /// members than the first limit are sent without Content-Length.
    package var archiveListedEstimateLimit = 10_000
    package var archiveEstimateLimit = 200_000

    /// Creates the default settings: the page enabled, with the name of the folder and without texts.
    public init() {}
}

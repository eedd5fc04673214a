/// What the owner of a server makes of the browser page. All texts are plain: what looks like markup is shown as it
/// stands.
public struct PageSettings: Hashable, Sendable {
    /// Whether there is a page at all. Without it GET on a folder is answered with its fields alone, as before there was
    /// one; WebDAV is not concerned, and neither are forms.
    public var isEnabled = true
    /// The name of the share: the title of the page, and the first of the breadcrumbs. Nil for the name of the folder
    /// that is shared.
    public var title: String?
    /// The headline of the root; nil for ``title``.
    public var header: String?
    /// Stands above the listing of the root: a few words of help, for example. Line ends count, and an empty line begins
    /// a paragraph.
    public var prologue: String?
    /// The same below the listing of the root.
    public var epilogue: String?
    /// The last line of every folder.
    public var footer: String?

    /// As it comes: a page with the name of the folder, and no texts.
    public init() {}
}

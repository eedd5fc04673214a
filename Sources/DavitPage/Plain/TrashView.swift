internal import DavitEngine
internal import DavitHTTP
internal import DavitListing
internal import DavitStore

/// The trash entries of a folder, in pages, with forms to restore and purge them.
struct TrashView {
    /// The maximum number of entries on a page.
    static let pageLimit = 200

    let page: PlainPage
    private let entries: ArraySlice<TrashEntry>
    private let hasOlder: Bool
    private let isNewest: Bool
    private let strings: PageStrings

    init(_ page: PlainPage) async throws(HTTPError) {
        self.page = page
        strings = page.strings
        let edge = page.visit.request.query["before"].flatMap { Int64($0) }
        // Read one more, to know whether there are older entries.
        let entries = try await page.visit.trash(before: edge, limit: Self.pageLimit + 1)
        self.entries = entries.prefix(Self.pageLimit)
        hasOlder = entries.count > Self.pageLimit
        isNewest = edge == nil
    }

    /// Whether the client may restore an entry, and delete it permanently.
    private func mayChange(_ entry: TrashEntry) -> (restores: Bool, purges: Bool) {
        if page.visit.isReadOnly { return (false, false) }
        let rights = page.visit.rights(ofTrashed: entry)
        return (rights.mayCreate, rights.mayDelete)
    }

    /// What the client may do with at least one entry.
    private var may: (restores: Bool, purges: Bool) {
        entries.reduce((false, false)) { found, entry in
            let may = mayChange(entry)
            return (found.0 || may.restores, found.1 || may.purges)
        }
    }

    func append(to html: inout HTMLText) {
        html.element("h2", strings.text(.trash))
        html.markup("\n")
        html.element("p", strings.text(entries.isEmpty ? .trashEmpty : .trashWhat))
        html.markup("\n")
        if !entries.isEmpty { appendTable(to: &html) }
        html.markup("<p class=\"simple-sum\">")
        if !isNewest { page.link(.trashNewest, Array("?trash".utf8), to: &html) }
        if hasOlder, let last = entries.last {
            let query = Array("?trash&before=\(last.number)".utf8)
            page.link(.trashOlder, query, " rel=\"next\"", to: &html)
        }
        html.markup("</p>\n<p>")
        page.cancelLink(.back, to: &html)
        html.markup("</p>\n")
    }

    private func appendTable(to html: inout HTMLText) {
        let may = may
        html.markup("<table>\n<thead><tr>")
        if may.restores || may.purges { html.markup("<td class=\"simple-pick\"></td>") }
        appendColumn(.name, "simple-name", to: &html)
        appendColumn(.size, "simple-size", to: &html)
        appendColumn(.trashWhen, "simple-date", to: &html)
        html.markup("</tr></thead>\n<tbody>\n")
        for entry in entries { appendRow(entry, in: may, to: &html) }
        html.markup("</tbody>\n</table>\n")
        if may.restores || may.purges { appendForms(may, to: &html) }
    }

    private func appendColumn(_ phrase: Phrase, _ style: StaticString, to html: inout HTMLText) {
        html.markup("<th scope=\"col\" class=\"")
        html.markup(style)
        html.markup("\">")
        html.text(strings.text(phrase))
        html.markup("</th>")
    }

    /// - Parameter offered: the actions below the table. An entry can be selected if all of them are permitted.
    private func appendRow(
        _ entry: TrashEntry, in offered: (restores: Bool, purges: Bool), to html: inout HTMLText
    ) {
        let shown = DisplayName.text(Array(entry.path.name))
        html.markup("<tr>")
        if offered != (false, false), mayChange(entry) != offered {
            html.markup("<td class=\"simple-pick\"></td>")
        } else if offered != (false, false) {
            html.markup("<td class=\"simple-pick\"><input type=\"checkbox\" form=\"selected\" name=\"id\"")
            html.attribute("value", entry.id)
            html.attribute("aria-label", strings.text(.select, ["name": shown]))
            html.markup("></td>")
        }
        html.markup("<th scope=\"row\" class=\"simple-name\"><span class=\"")
        html.markup(entry.isCollection ? "simple-folder" : "simple-file")
        html.markup("\"><span><bdi>")
        html.text(shown)
        html.markup("</bdi>")
        if entry.reason == .overwritten {
            html.markup(" ")
            html.element("small", "(" + strings.text(.trashVersion) + ")")
        }
        if let parent = entry.path.parent {
            html.markup("<br><small><bdi>/")
            html.text(DisplayName.text(Array(parent.bytes)))
            html.markup("</bdi></small>")
        }
        html.markup("</span></span></th><td class=\"simple-size\">")
        if let length = entry.length { html.text(ByteCount.text(length)) }
        html.markup("</td><td class=\"simple-date\">")
        html.time(entry.deleted)
        html.markup("</td></tr>\n")
    }

    /// Adds one form that restores the selected entries, or purges them after a confirmation.
    private func appendForms(_ may: (restores: Bool, purges: Bool), to html: inout HTMLText) {
        page.beginForm(
            may.restores ? .restore : .purge, " id=\"selected\" class=\"simple-selected\"", to: &html)
        html.element("span", strings.text(.selected))
        html.markup("\n")
        if may.restores { page.button(.restore, to: &html) }
        if may.purges { appendPurge(to: &html) }
        html.markup("</form>\n")
    }

    private func appendPurge(to html: inout HTMLText) {
        html.markup("<details class=\"simple-ask\"><summary>")
        html.text(strings.text(.purgeAsk))
        html.markup("</summary>\n<div>\n")
        html.element("p", strings.text(.purgeWarning))
        // The confirmation is in this button, so that the other button does not send it.
        html.markup("\n")
        page.button(
            .purgeGo, sends: .purge, " class=\"simple-danger\" name=\"confirmed\" value=\"yes\"", to: &html)
        html.markup("</div></details>\n")
    }
}

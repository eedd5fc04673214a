internal import DavitEngine
internal import DavitHTTP
internal import DavitListing
internal import DavitStore

/// The listing of a folder with all actions, as plain HTML, written in three parts: above the rows, the rows,
/// below the rows.
struct FolderView {
    let page: PlainPage
    let query: FolderQuery
    private let kept: [TrashEntry]
    private let strings: PageStrings
    private let canWrite: Bool
    /// What the client may do with the folder, and with its members unless they have rights of their own.
    private let rights: ClientRights
    /// The actions on selected members. Members for which not all of them are permitted cannot be selected.
    private let actions: [(FormAction, Phrase)]

    /// - Parameter kept: the trash entries of the members that a form has just deleted, which can be
    ///   restored.
    init(_ page: PlainPage, _ query: FolderQuery, kept: [TrashEntry] = []) {
        self.page = page
        self.query = query
        self.kept = kept
        strings = page.strings
        canWrite = !page.visit.isReadOnly
        rights = page.visit.rights
        let members = rights.inherited
        var actions: [(FormAction, Phrase)] = []
        if canWrite {
            if members.mayDelete { actions.append((.delete, .deleteAsk)) }
            if members.mayMove { actions.append((.move, .moveAsk)) }
            if members.mayRead { actions.append((.copy, .copyAsk)) }
            if members.mayRead, PageFeature.archive.isAvailable(for: page.visit) {
                actions.append((.archive, .archiveGo))
            }
        }
        self.actions = actions
    }

    // MARK: Above

    func appendHead(to html: inout HTMLText) {
        page.appendHead(to: &html)
        if let done = query.done { appendNotice(done.action, done.count, to: &html) }
        html.markup("<div class=\"simple-tools\">\n")
        if canWrite, rights.mayCreate {
            appendUpload(to: &html)
            appendNewFolder(to: &html)
        }
        if !rights.isDropBox { appendFind(to: &html) }
        html.markup("</div>\n")
        if canWrite, rights.isDropBox {
            html.element("p", strings.text(.dropBox), " class=\"simple-note\"")
            html.markup("\n")
        }
        html.markup("<table>\n<thead><tr>")
        if !actions.isEmpty { html.markup("<td class=\"simple-pick\"></td>") }
        for (key, phrase, style) in Self.columns {
            appendColumn(key, phrase, style, to: &html)
        }
        html.markup("<td class=\"simple-more\"></td></tr></thead>\n<tbody>\n")
    }

    /// The maximum number of deleted names listed.
    private static let keptNames = 10

    private static let columns: [(FolderOrder.Key, Phrase, StaticString)] = [
        (.name, .name, "simple-name"), (.size, .size, "simple-size"), (.date, .modified, "simple-date"),
    ]

    private func appendNotice(_ action: FormAction, _ count: Int, to html: inout HTMLText) {
        let text =
            switch action {
            case .upload: strings.text(.doneUpload, count: count)
            case .mkcol: strings.text(.doneMkcol)
            case .delete: strings.text(.doneDelete, count: count)
            case .move: strings.text(.doneMove, count: count)
            case .copy: strings.text(.doneCopy, count: count)
            case .rename: strings.text(.doneRename)
            case .unlock: strings.text(.doneUnlock)
            case .restore: strings.text(.doneRestore, count: count)
            case .purge: strings.text(.donePurge, count: count)
            case .archive: ""
            }
        html.markup("<div class=\"simple-notice\">")
        html.element("p", text, " role=\"status\"")
        html.markup("\n")
        if !kept.isEmpty, rights.mayCreate { appendUndo(to: &html) }
        html.markup("</div>\n")
    }

    /// Adds the Undo form, with names read from the trash.
    private func appendUndo(to html: inout HTMLText) {
        html.markup("<ul>")
        for entry in kept.prefix(Self.keptNames) {
            html.markup("<li>")
            html.name(Array(entry.path.name))
            html.markup("</li>")
        }
        html.markup(kept.count > Self.keptNames ? "<li>…</li></ul>\n" : "</ul>\n")
        page.undoForm(kept.map(\.id), to: &html)
    }

    private func appendUpload(to html: inout HTMLText) {
        page.foldedForm(
            .upload, .upload, " enctype=\"multipart/form-data\"", button: .uploadGo, to: &html
        ) { html in
            // The checkbox must precede the files, which are stored as they arrive.
            page.box("replace", .uploadReplace, to: &html)
            html.markup("<label>")
            html.text(strings.text(.uploadFiles))
            html.markup(" <input type=\"file\" name=\"files\" multiple required></label>\n")
        }
    }

    private func appendNewFolder(to html: inout HTMLText) {
        page.foldedForm(.newFolder, .mkcol, button: .newFolderGo, to: &html) { html in
            html.markup("<label>")
            html.text(strings.text(.name))
            html.markup(" <input name=\"name\" required maxlength=\"255\" autocomplete=\"off\"></label>\n")
        }
    }

    private func appendFind(to html: inout HTMLText) {
        html.markup("<form role=\"search\" class=\"simple-find\"")
        html.attribute("action", page.base)
        html.markup("><label><span class=\"simple-hidden\">")
        html.text(strings.text(.find))
        html.markup("</span> <input type=\"search\" name=\"find\"")
        html.attribute("placeholder", strings.text(.find))
        html.attribute("value", query.find)
        html.markup("></label>\n")
        for (name, value) in query.from(.start).fields where name != "find" {
            html.hidden(name, value)
        }
        page.button(.findGo, to: &html)
        if !query.find.isEmpty {
            var all = query.from(.start)
            all.find = ""
            page.link(.findEnd, all.text, to: &html)
        }
        html.markup("</form>\n")
    }

    /// Adds a sortable column.
    private func appendColumn(
        _ key: FolderOrder.Key, _ phrase: Phrase, _ style: StaticString, to html: inout HTMLText
    ) {
        html.markup("<th scope=\"col\" class=\"")
        html.markup(style)
        html.markup("\"")
        if query.order.key == key {
            html.attribute("aria-sort", query.order.isDescending ? "descending" : "ascending")
        }
        html.markup(">")
        page.link(phrase, query.ordered(by: key).text, to: &html)
        html.markup("</th>")
    }

    // MARK: Rows

    func append(_ entry: ListingEntry, to html: inout HTMLText) {
        let shown = DisplayName.text(entry.name)
        let rights = page.visit.rights(ofMember: entry.name, isCollection: entry.isCollection)
        html.markup("<tr>")
        if !actions.isEmpty, rights == self.rights.inherited {
            var segment: [UInt8] = []
            PercentCoding.append(entry.name, to: &segment)
            html.markup(
                "<td class=\"simple-pick\"><input type=\"checkbox\" form=\"selected\" name=\"member\"")
            html.attribute("value", segment)
            html.attribute("aria-label", strings.text(.select, ["name": shown]))
            html.markup("></td>")
        } else if !actions.isEmpty {
            html.markup("<td class=\"simple-pick\"></td>")
        }
        html.markup("<th scope=\"row\" class=\"simple-name\"><a class=\"")
        html.markup(entry.isCollection ? "simple-folder\"" : "simple-file\"")
        html.attribute("href", page.href(of: entry.name, isCollection: entry.isCollection))
        html.markup(">")
        html.name(entry.name)
        if entry.isCollection {
            html.markup("<span class=\"simple-hidden\"> (")
            html.text(strings.text(.folder))
            html.markup(")</span>")
        }
        html.markup("</a></th><td class=\"simple-size\">")
        if !entry.isCollection { html.text(ByteCount.text(entry.length)) }
        html.markup("</td><td class=\"simple-date\">")
        if entry.hasTime { html.time(entry.modified) }
        html.markup("</td><td class=\"simple-more\">")
        if !entry.isCollection, rights.mayRead {
            html.markup("<a download")
            html.attribute("href", page.href(of: entry.name))
            html.attribute("aria-label", strings.text(.downloadOf, ["name": shown]))
            html.markup(">")
            html.text(strings.text(.download))
            html.markup("</a> ")
        }
        if canWrite {
            html.markup("<a")
            html.attribute("href", page.aboutHref(of: entry.name))
            html.attribute("aria-label", strings.text(.moreAbout, ["name": shown]))
            html.markup(">")
            html.text(strings.text(.more))
            html.markup("</a>")
        }
        html.markup("</td></tr>\n")
    }

    // MARK: Below

    /// - Parameters:
    ///   - selection: the members that were shown; nil if the folder could not be read completely.
    ///   - available: the free space in bytes, if known.
    func appendFoot(_ selection: FolderSelection.Page?, available: Int64?, to html: inout HTMLText) {
        html.markup("</tbody>\n</table>\n")
        if let selection, selection.entries.isEmpty, !rights.isDropBox {
            html.markup("<p class=\"simple-empty\">")
            html.text(
                query.find.isEmpty
                    ? strings.text(.empty) : strings.text(.nothingFound, ["text": query.find]))
            html.markup("</p>\n")
        }
        if selection == nil {
            html.element("p", strings.text(.cut), " class=\"simple-empty\" role=\"alert\"")
            html.markup("\n")
        }
        if !actions.isEmpty, selection?.entries.isEmpty == false { appendSelected(to: &html) }
        html.markup("<p class=\"simple-sum\">")
        if let selection { appendSum(selection, to: &html) }
        if let available {
            html.markup("<span class=\"simple-free\">")
            html.text(strings.text(.free, ["size": ByteCount.text(available)]))
            html.markup("</span>")
        }
        if selection?.entries.isEmpty == false, rights.mayDownloadAll,
            PageFeature.archive.isAvailable(for: page.visit)
        {
            page.link(.archiveAll, Array("?archive".utf8), to: &html)
        }
        if page.visit.hasTrash {
            page.link(.trash, Array("?trash".utf8), to: &html)
        }
        html.markup("</p>\n")
        ConnectView(page: page).append(to: &html)
        page.appendFoot(to: &html)
    }

    private func appendSum(_ selection: FolderSelection.Page, to html: inout HTMLText) {
        if selection.entries.count < selection.count, let first = selection.entries.first,
            let last = selection.entries.last
        {
            if selection.first > 0 {
                page.link(.previous, query.from(.before(first)).text, " rel=\"prev\"", to: &html)
            }
            html.markup("<span>")
            html.text(
                strings.text(
                    .range,
                    [
                        "from": "\(selection.first + 1)",
                        "to": "\(selection.first + selection.entries.count)", "count": "\(selection.count)",
                    ]))
            html.markup("</span>")
            if !selection.isLast {
                page.link(.next, query.from(.after(last)).text, " rel=\"next\"", to: &html)
            }
        } else {
            html.markup("<span>")
            html.text(strings.text(.items, count: selection.count))
            html.markup("</span>")
        }
    }

    /// Adds the actions on the selected rows.
    private func appendSelected(to html: inout HTMLText) {
        page.beginForm(actions.first?.0 ?? .copy, " id=\"selected\" class=\"simple-selected\"", to: &html)
        html.element("span", strings.text(.selected))
        html.markup("\n")
        for (action, phrase) in actions {
            page.button(phrase, sends: action, to: &html)
        }
        html.markup("</form>\n")
    }
}

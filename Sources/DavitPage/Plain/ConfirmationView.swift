internal import DavitEngine
internal import DavitHTTP
internal import DavitListing

/// Asks for confirmation or a destination before an action on members of a folder. Deselected members are not
/// changed. Of very many members, only the first are listed.
struct ConfirmationView {
    let page: PlainPage
    let action: FormAction
    let members: [[UInt8]]
    /// The suggested destination folders, relative to the root of the share; empty for deletion.
    let folders: [ResourcePath]

    func append(to html: inout HTMLText) {
        let strings = page.strings
        let (question, answer): (Phrase, Phrase) =
            switch action {
            case .move: (.questionMove, .moveGo)
            case .copy: (.questionCopy, .copyGo)
            case .delete, .upload, .mkcol, .rename, .unlock, .restore, .purge, .archive:
                (.questionDelete, .deleteGo)
            }
        html.element("h2", strings.text(question))
        html.markup("\n")
        page.beginForm(action, " class=\"simple-form\"", to: &html)
        html.markup("<ul class=\"simple-members\">\n")
        for member in members.prefix(PlainPage.listedLimit) {
            var segment: [UInt8] = []
            PercentCoding.append(member, to: &segment)
            html.markup("<li><label class=\"simple-box\"><input type=\"checkbox\" checked name=\"member\"")
            html.attribute("value", segment)
            html.markup("> ")
            html.name(member)
            html.markup("</label></li>\n")
        }
        html.markup("</ul>\n")
        appendRest(to: &html)
        if action == .delete {
            html.element("p", strings.text(.deleteTree))
            html.element("p", strings.text(page.visit.hasTrash ? .deleteKept : .deleteLost))
            html.markup("\n")
            html.hidden("confirmed", "yes")
        } else {
            appendDestination(to: &html)
        }
        html.markup("<p>")
        page.button(answer, action == .delete ? " class=\"simple-danger\"" : "", to: &html)
        page.cancelLink(.cancel, to: &html)
        html.markup("</p>\n</form>\n")
    }

    /// Adds the members that are not listed, which cannot be deselected.
    private func appendRest(to html: inout HTMLText) {
        let rest = members.dropFirst(PlainPage.listedLimit)
        if rest.isEmpty { return }
        html.element("p", page.strings.text(.andMore, count: rest.count))
        html.markup("\n")
        for member in rest { html.hiddenMember(member) }
    }

    private func appendDestination(to html: inout HTMLText) {
        let strings = page.strings
        html.markup("<p><label>")
        html.text(strings.text(.to))
        html.markup(" <input name=\"to\" autocomplete=\"off\" aria-describedby=\"to-hint\"></label>\n")
        html.markup("<small id=\"to-hint\">")
        html.text(strings.text(.toHint, ["example": "/photos/2026"]))
        html.markup("</small></p>\n<p><label>")
        html.text(strings.text(.toKnown))
        html.markup(" <select name=\"destination\"><option value=\"\">")
        html.text(strings.text(.toOther))
        html.markup("</option>\n")
        for folder in folders {
            var href: [UInt8] = []
            PercentCoding.append(folder, to: &href)
            html.markup("<option")
            html.attribute("value", href)
            html.markup(">")
            html.text("/" + DisplayName.text(Array(folder.bytes)))
            html.markup("</option>\n")
        }
        html.markup("</select></label></p>\n")
        page.box("replace", .replace, to: &html)
    }
}

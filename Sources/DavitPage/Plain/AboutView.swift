internal import DavitEngine
internal import DavitHTTP
internal import DavitListing
internal import DavitStore

/// The page about one member of a folder: its metadata and the actions on it.
struct AboutView {
    let page: PlainPage
    let name: [UInt8]
    let member: PageMember
    private let strings: PageStrings

    init(_ page: PlainPage, _ name: [UInt8], _ member: PageMember) {
        self.page = page
        self.name = name
        self.member = member
        strings = page.strings
    }

    func append(to html: inout HTMLText) {
        html.markup("<h2>")
        html.name(name)
        html.markup("</h2>\n<dl>\n")
        appendFact(
            .size, member.info.isCollection ? strings.text(.folder) : ByteCount.text(member.info.length),
            &html)
        html.element("dt", strings.text(.modified))
        html.markup("<dd>")
        if !member.info.isPassage { html.time(member.info.modified) }
        html.markup("</dd>\n")
        for lock in member.locks { appendFact(.locks, text(of: lock), &html) }
        html.markup("</dl>\n")
        if member.info.isCollection || member.rights.mayRead {
            html.markup("<p><a class=\"simple-back\"")
            html.attribute("href", page.href(of: name, isCollection: member.info.isCollection))
            html.markup(member.info.isCollection ? ">" : " download>")
            html.text(strings.text(member.info.isCollection ? .folder : .download))
            html.markup("</a></p>\n")
        }
        if !page.visit.isReadOnly {
            appendForms(to: &html)
            for lock in member.breakableLocks { appendUnlock(lock, to: &html) }
        }
        html.markup("<p>")
        page.cancelLink(.back, to: &html)
        html.markup("</p>\n")
    }

    private func appendFact(_ phrase: Phrase, _ text: String, _ html: inout HTMLText) {
        html.element("dt", strings.text(phrase))
        html.element("dd", text)
        html.markup("\n")
    }

    private func text(of lock: Lock) -> String {
        let time = String(decoding: HTTPDate.iso8601(lock.expiry), as: UTF8.self)
        return strings.text(
            .lockedBy, ["who": PageMember.holder(of: lock) ?? strings.text(.somebody), "time": time])
    }

    /// Adds a form to break a lock, with a confirmation, because its owner may still be editing.
    private func appendUnlock(_ lock: Lock, to html: inout HTMLText) {
        html.markup("<details class=\"simple-ask\"><summary>")
        html.text(strings.text(.unlockAsk))
        html.markup("</summary>\n")
        page.beginForm(.unlock, to: &html)
        html.element(
            "p",
            strings.text(
                .unlockWarning, ["who": PageMember.holder(of: lock) ?? strings.text(.somebody)]))
        html.markup("\n")
        html.hiddenMember(name)
        html.hidden("token", PageMember.token(of: lock))
        html.hidden("confirmed", "yes")
        page.button(.unlockGo, " class=\"simple-danger\"", to: &html)
        html.markup("</form></details>\n")
    }

    private func appendForms(to html: inout HTMLText) {
        if member.rights.mayRename { appendRename(to: &html) }
        var actions: [(FormAction, Phrase)] = []
        if member.rights.mayMove { actions.append((.move, .moveAsk)) }
        if member.rights.mayRead { actions.append((.copy, .copyAsk)) }
        if member.rights.mayDelete { actions.append((.delete, .deleteAsk)) }
        guard let first = actions.first else { return }
        page.beginForm(first.0, " class=\"simple-selected\"", to: &html)
        html.hiddenMember(name)
        for (action, phrase) in actions {
            page.button(phrase, sends: action, to: &html)
        }
        html.markup("</form>\n")
    }

    private func appendRename(to html: inout HTMLText) {
        page.beginForm(.rename, " class=\"simple-form\"", to: &html)
        html.hiddenMember(name)
        html.markup("<label>")
        html.text(strings.text(.newName))
        html.markup(" <input name=\"name\" required maxlength=\"255\" autocomplete=\"off\"")
        html.attribute("value", name)
        html.markup("></label>\n")
        page.button(.rename, to: &html)
        html.markup("</form>\n")
    }
}

internal import DavitEngine
internal import DavitHTTP

/// Says in words what a form could not do.
struct FailureView {
    let page: PlainPage
    /// Nil for a page that was asked for.
    var action: FormAction?
    let status: HTTPStatus
    let results: [FormResult]
    /// Ids of what was deleted all the same, and can come back.
    var kept: [String] = []
    /// There is nothing to go back to here, but in the folder above.
    var isElsewhere = false

    func append(to html: inout HTMLText) {
        let strings = page.strings
        html.markup("<div role=\"alert\" class=\"simple-failure\">\n")
        if !isElsewhere {
            html.element(
                "h2", strings.text(results.contains(where: \.isDone) ? .failureSome : .failureNone))
            html.markup("\n")
        }
        if results.isEmpty {
            html.element("p", strings.text(reason(status, hasName: false)))
            html.markup("\n")
        } else {
            html.markup("<dl>\n")
            // What failed first: the rest may be long.
            for result in results.filter({ !$0.isDone }) + results.filter(\.isDone) {
                html.markup("<dt>")
                html.name(result.name ?? Array(page.rootName.utf8))
                html.markup("</dt>")
                html.element(
                    "dd", strings.text(result.isDone ? .reasonDone : reason(result.status, hasName: true)))
                html.markup("\n")
            }
            html.markup("</dl>\n")
        }
        if !kept.isEmpty { page.undoForm(kept, to: &html) }
        html.markup("</div>\n<p>")
        page.cancelLink(.back, isElsewhere && !page.visit.path.isRoot ? "../" : "", to: &html)
        html.markup("</p>\n")
    }

    /// What a status means to somebody who knows of none.
    private func reason(_ status: HTTPStatus, hasName: Bool) -> Phrase {
        switch status {
        case .badRequest: hasName ? .reasonName : .reasonForm
        case .unsupportedMediaType: .reasonForm
        case .forbidden, .badGateway: .reasonForbidden
        case .notFound: .reasonGone
        // A new folder where something is already, or content in the place of a folder.
        case .methodNotAllowed, .preconditionFailed: .reasonTaken
        // No such lock; a folder it was in, whose name something else has; no folder to go to.
        case .conflict where action == .unlock: .reasonGone
        case .conflict where action == .restore: .reasonTaken
        case .conflict: .reasonNoFolder
        case .uriTooLong: .reasonLong
        case .contentTooLarge: .reasonLarge
        case .locked, .failedDependency: .reasonLocked
        case .insufficientStorage: .reasonSpace
        case .serviceUnavailable: .reasonBusy
        case .multistatus: .reasonPartly
        default: .reasonFailed
        }
    }
}

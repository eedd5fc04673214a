internal import DavitEngine
internal import DavitHTTP

/// Explains why a form failed.
struct FailureView {
    let page: PlainPage
    /// The action that failed; nil if a page was requested, or if the form was incomplete.
    var action: FormAction?
    let status: HTTPStatus
    let results: [FormResult]
    /// The trash IDs of members that were deleted although others failed, and that can be restored. The page links to the
    /// trash instead if there are very many.
    var kept: [String] = []
    /// Whether this folder does not exist or is not accessible, so that the page links to the parent folder.
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
            // List failures first, because the rest may be long.
            let sorted = results.filter { !$0.isDone } + results.filter(\.isDone)
            for result in sorted.prefix(PlainPage.listedLimit) {
                html.markup("<dt>")
                html.name(result.name ?? Array(page.rootName.utf8))
                html.markup("</dt>")
                html.element(
                    "dd", strings.text(result.isDone ? .reasonDone : reason(result.status, hasName: true)))
                html.markup("\n")
            }
            html.markup("</dl>\n")
            if sorted.count > PlainPage.listedLimit {
                html.element("p", strings.text(.andMore, count: sorted.count - PlainPage.listedLimit))
                html.markup("\n")
            }
        }
        if kept.count > PlainPage.listedLimit {
            html.markup("<p>")
            page.link(.trash, Array("?trash".utf8), to: &html)
            html.markup("</p>\n")
        } else if !kept.isEmpty {
            page.undoForm(kept, to: &html)
        }
        html.markup("</div>\n<p>")
        page.cancelLink(.back, isElsewhere && !page.visit.path.isRoot ? "../" : "", to: &html)
        html.markup("</p>\n")
    }

    /// Returns the text that explains a status.
    private func reason(_ status: HTTPStatus, hasName: Bool) -> Phrase {
        switch status {
        case .badRequest: hasName ? .reasonName : .reasonForm
        case .unsupportedMediaType: .reasonForm
        case .forbidden where isElsewhere: .reasonNoAccess
        case .forbidden, .badGateway: .reasonForbidden
        case .notFound where isElsewhere: .reasonNothing
        case .notFound: .reasonGone
        // MKCOL on an existing resource, or content for the path of a folder.
        case .methodNotAllowed, .preconditionFailed: .reasonTaken
        // By action: the lock does not exist; the name of a former parent folder is taken; the destination
        // folder is missing.
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

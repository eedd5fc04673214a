internal import DavitEngine
internal import DavitHTTP
internal import DavitServer
internal import DavitStore

/// The data that the document contains for the scripts, as JSON.
struct PageData {
    let visit: PageContext
    let settings: PageSettings

    func append(to html: inout HTMLText) {
        var json = JSONWriter()
        json.object {
            $0.member("version", PageFiles.shared.version)
            $0.member("files", PageShell.filesHref(visit))
            $0.member("root", visit.rootHref)
            $0.member("path", visit.href)
            $0.member("canWrite", !visit.isReadOnly)
            $0.member("user", visit.request.principal)
            $0.member("features", PageFeature.all(of: visit).map(\.rawValue))
            $0.member("maximumFileBytes", visit.maximumFileBytes)
            $0.member("allowedExtensions", visit.rules.allowedExtensions.map { $0.sorted() })
            $0.member("allowsHiddenItems", visit.rules.allowsHiddenItems)
            $0.member("language", PageLanguage(for: visit.request).rawValue)
            $0.member("languages", PageLanguage.allCases.map(\.rawValue))
            $0.member("title", settings.title)
            $0.member("header", settings.header)
            $0.member("prologue", settings.prologue)
            $0.member("epilogue", settings.epilogue)
            $0.member("footer", settings.footer)
            $0.member("rights", visit.hasRights ? visit.rights.number : nil)
            $0.member("hasAccounts", visit.hasAccountDatabase)
            $0.member(
                "isAdministrator",
                visit.hasAccountDatabase && visit.rights(at: .root, isCollection: true).mayManage)
        }
        html.json(json)
    }
}

internal import DavitStore

/// The reports that resources support, for `supported-report-set` (RFC 3253 §3.1.5); they must match the
/// reports that ``ReportMethod`` implements.
enum SupportedReports {
    private static let content: StaticString =
        "<D:supported-report><D:report><D:expand-property/></D:report></D:supported-report>"
    /// The reports of a collection if the share has a journal.
    private static let synchronized: StaticString = """
        <D:supported-report><D:report><D:expand-property/></D:report></D:supported-report>\
        <D:supported-report><D:report><D:sync-collection/></D:report></D:supported-report>
        """

    private static let trash: StaticString =
        #"<D:supported-report><D:report><T:trash xmlns:T="urn:davit:trash"/></D:report></D:supported-report>"#

    /// - Parameters:
    ///   - hasJournal: whether the share has a journal, so that clients can query changes.
    ///   - hasTrash: whether the share has a trash.
    static func of(_ info: ResourceInfo, hasJournal: Bool, hasTrash: Bool) -> [UInt8] {
        let reports = info.isCollection && hasJournal ? synchronized : content
        let all = hasTrash ? [reports, trash] : [reports]
        return all.flatMap { $0.description.utf8 }
    }
}

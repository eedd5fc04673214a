internal import DavitStore

/// The reports that resources answer, for `supported-report-set` (RFC 3253 §3.1.5): the cases of ``ReportMethod``.
enum SupportedReports {
    private static let content: StaticString =
        "<D:supported-report><D:report><D:expand-property/></D:report></D:supported-report>"
    /// Of a collection of a share with a journal.
    private static let synchronised: StaticString = """
        <D:supported-report><D:report><D:expand-property/></D:report></D:supported-report>\\
        <D:supported-report><D:report><D:sync-collection/></D:report></D:supported-report>
        """

    static func of(_ info: ResourceInfo, hasJournal: Bool) -> StaticString {
        info.isCollection && hasJournal ? synchronised : content
    }
}

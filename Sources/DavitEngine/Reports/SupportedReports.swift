/// The reports that resources answer, for `supported-report-set` (RFC 3253 §3.1.5): the cases of ``ReportMethod``.
enum SupportedReports {
    /// Of a collection of a share with a journal.
    static let synchronised: StaticString =
        "<D:supported-report><D:report><D:sync-collection/></D:report></D:supported-report>"
}

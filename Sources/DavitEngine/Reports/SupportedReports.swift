/// The reports that resources answer, for `supported-report-set` (RFC 3253 §3.1.5): the cases of ``ReportMethod``.
enum SupportedReports {
    static let content: StaticString =
        "<D:supported-report><D:report><D:expand-property/></D:report></D:supported-report>"
    static let collection: StaticString =
        "<D:supported-report><D:report><D:expand-property/></D:report></D:supported-report>"
}

internal import DavitArchive
internal import DavitEngine
internal import DavitHTTP
internal import DavitStore

/// The paths in an archive and its file name.
///
/// A whole collection is archived in a folder with its name, so that unpacking does not mix it with other
/// files; selected members are at the top level.
struct ArchiveLayout: Sendable {
    private let method: ArchiveMethod
    /// The name of the top-level folder; empty for a selection.
    private let top: [UInt8]
    /// The file name of the download, in UTF-8.
    let fileName: String
    /// The path of the report, if any.
    let reportPath: [UInt8]

    init(_ visit: PageContext, _ choice: ArchiveChoice) {
        method = choice.method
        var name = Array(visit.path.name)
        if name.isEmpty { name = visit.mountName }
        if name.isEmpty { name = Array("files".utf8) }
        if let names = choice.names {
            top = []
            if names.count == 1 { name = names[0] }
            reportPath = ArchiveReport.name(besides: Set(names))
        } else {
            top = name
            reportPath = ArchiveReport.name(besides: [name])
        }
        fileName = String(decoding: name, as: UTF8.self) + ".zip"
    }

    /// Returns the ZIP entry of a found resource.
    func entry(of found: DownloadTraversal.Found) -> ZIPEntry { entry(found.path, found.info) }

    private func entry(_ relative: [UInt8], _ info: ResourceInfo) -> ZIPEntry {
        var path = top
        if !top.isEmpty, !relative.isEmpty { path.append(UInt8(ascii: "/")) }
        path.append(contentsOf: relative)
        let seconds = info.modified.seconds
        if info.isCollection {
            path.append(UInt8(ascii: "/"))
            return ZIPEntry(path: path, kind: .folder, modifiedSeconds: seconds)
        }
        let start = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        return ZIPEntry(
            path: path, kind: .file(length: info.length),
            method: method.method(forName: path[start...], length: info.length), modifiedSeconds: seconds,
            isExecutable: info.isExecutable)
    }

    func entry(of report: ArchiveReport, now: Timestamp) -> ZIPEntry {
        ZIPEntry(
            path: reportPath, kind: .file(length: Int64(report.text.count)), modifiedSeconds: now.seconds)
    }

    /// Returns the length of the archive in bytes; nil if it cannot be computed in advance.
    func length(of entries: ArchiveEntries, _ report: ArchiveReport) -> Int64? {
        #if Archive
        var length = ZIPLength()
        for index in 0..<entries.count {
            let (path, info) = entries.resource(index)
            let entry = entry(path, info)
            guard entry.method == .stored, entry.path.count <= ZIPEntry.pathLimit else { return nil }
            length.add(entry)
        }
        if report.count > 0 { length.add(self.entry(of: report, now: Timestamp(seconds: 0))) }
        return ZIPLength.isExact ? length.bytes : nil
        #else
        return nil
        #endif
    }
}

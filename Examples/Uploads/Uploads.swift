import Davit

/// Stores files that are uploaded with a form: `Uploads FOLDER [PORT]`. Temporary files are on the same volume.
@main struct Uploads {
    static let page = """
        <!DOCTYPE html>
        <html lang="en"><meta charset="utf-8"><title>Uploads</title>
        <form method="post" action="/" enctype="multipart/form-data">
        <input type="file" name="files" multiple> <button>Send</button></form></html>

        """

    static func main() async throws {
        let arguments = CommandLine.arguments
        let folder = arguments.count > 1 ? arguments[1] : "."
        var configuration = Configuration()
        configuration.port = arguments.count > 2 ? UInt16(arguments[2]) ?? 8080 : 8080
        configuration.temporaryFolder = folder
        configuration.stopsOnSignals = true
        let server = try WebServer(configuration: configuration) { routes in
            routes.get("/") { _ in .html(page) }
            routes.post("/", body: .multipart()) { _, form in
                var names: [String] = []
                for upload in form.files("files") where !upload.fileName.isEmpty {
                    try await upload.file.move(to: "\(folder)/\(upload.fileName)", replacing: true)
                    names.append(upload.fileName)
                }
                return .text("Stored: \(names.joined(separator: ", "))\n", status: .created)
            }
        }
        try await server.run { print("Upload files at \($0)") }
    }
}

import CoreImage.CIFilterBuiltins
import Davit
import Observation
import SwiftUI

/// Shares the documents of the app over WebDAV, on iOS, iPadOS, tvOS, visionOS and macOS. Browsers and file
/// managers of other devices can read and change them.
@main struct ShareApp: App {
    @State private var folder = SharedFolder()

    var body: some Scene {
        WindowGroup {
            ShareView(folder: folder).onAppear { folder.start() }
        }
    }
}

/// A folder and the server that shares it.
@MainActor @Observable final class SharedFolder {
    /// The address for other devices; nil while the server is not listening.
    private(set) var url: String?
    /// The reason why the server is not listening, if it is an error.
    private(set) var problem: String?
    let name = "guest"
    /// A new password for each launch.
    let password = String((0..<8).compactMap { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() })

    @ObservationIgnored private var server: WebServer?
    /// Stops listening in the background and resumes in the foreground; kept as long as the server.
    @ObservationIgnored private var observer: ApplicationObserver?
    @ObservationIgnored private var events: Task<Void, Never>?

    /// Starts the server, unless it has already been started.
    func start() {
        guard server == nil else { return }
        do {
            let (documents, state) = try Self.folders()
            var configuration = Configuration()
            configuration.hosts = ["*"]
            configuration.port = 8080
            // Addresses that other devices can reach require accounts.
            configuration.accounts = [.init(name: name, password: password)]
            let share = WebDAVShare(documents.path, stateFolder: state.path)
            let server = try WebServer(share, configuration: configuration)
            let changes = server.events
            try server.start()
            self.server = server
            observer = ApplicationObserver(server)
            url = server.url
            events = Task { [weak self] in
                for await event in changes { self?.update(event) }
            }
        } catch {
            problem = "\(error)"
        }
    }

    private func update(_ event: ServerEvent) {
        switch event {
        case .started, .resumed: (url, problem) = (server?.url, nil)
        case .stopped, .suspended: url = nil
        case .resumeFailed: (url, problem) = (nil, "The port is used by another app.")
        default: break
        }
    }

    /// Returns the shared folder, and the folder for locks and properties, which must be outside of it.
    private static func folders() throws -> (documents: URL, state: URL) {
        let manager = FileManager.default
        func folder(_ directory: FileManager.SearchPathDirectory, _ name: String) throws -> URL {
            let parent = try manager.url(
                for: directory, in: .userDomainMask, appropriateFor: nil, create: true)
            let folder = name.isEmpty ? parent : parent.appending(path: name, directoryHint: .isDirectory)
            try manager.createDirectory(at: folder, withIntermediateDirectories: true)
            return folder
        }
        #if os(tvOS)
        // Apps on tvOS can only write to folders that the system may empty when they are not running.
        return (try folder(.cachesDirectory, "Documents"), try folder(.cachesDirectory, "State"))
        #elseif os(macOS)
        // Without a sandbox, this is the documents folder of the user: do not share all of it.
        return (
            try folder(.documentDirectory, "ShareApp"), try folder(.applicationSupportDirectory, "ShareApp")
        )
        #else
        return (try folder(.documentDirectory, ""), try folder(.applicationSupportDirectory, "State"))
        #endif
    }
}

/// Shows the address of the server, as text and as a QR code.
struct ShareView: View {
    let folder: SharedFolder

    var body: some View {
        VStack(spacing: 16) {
            if let url = folder.url {
                Text("Open this address on another device in the same network:")
                Text(url).font(.title2.monospaced())
                Text("Name: \(folder.name)   Password: \(folder.password)").monospaced()
                if let code = Self.code(url) {
                    code.interpolation(.none).resizable().scaledToFit()
                        .frame(maxWidth: 240, maxHeight: 240)
                        .accessibilityLabel("QR code of the address")
                }
            } else {
                Text(folder.problem ?? "Not sharing")
            }
        }
        .multilineTextAlignment(.center)
        .padding()
    }

    /// Returns a QR code; nil if Core Image cannot create one.
    private static func code(_ text: String) -> Image? {
        let filter = CIFilter.qrCodeGenerator()
        filter.message = Data(text.utf8)
        guard let output = filter.outputImage,
            let image = CIContext().createCGImage(output, from: output.extent)
        else { return nil }
        return Image(decorative: image, scale: 1)
    }
}

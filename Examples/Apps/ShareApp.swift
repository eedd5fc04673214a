import Davit
import SwiftUI

/// Shares the documents folder of this app over WebDAV while the app is open: for iOS, iPadOS, tvOS, visionOS and
/// macOS.
@main struct ShareApp: App {
    @State private var model = ShareModel()

    var body: some Scene {
        WindowGroup { ShareView(model: model).task { await model.run() } }
    }
}

struct ShareView: View {
    let model: ShareModel

    var body: some View {
        VStack(spacing: 16) {
            Text(model.isConnected ? "A client is connected." : "Open this address on another device:")
            Text(model.address).font(.title2.monospaced())
            Text("User: \(model.user)   Password: \(model.password)").font(.body.monospaced())
            if let problem = model.problem { Text(problem).foregroundStyle(.red) }
        }
        .padding()
    }
}

@MainActor @Observable final class ShareModel {
    let user = "me"
    /// New for each start of the app.
    let password = String((0..<10).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement()! })
    private(set) var address = "…"
    private(set) var isConnected = false
    private(set) var problem: String?
    private var observer: ApplicationObserver?

    /// Starts the server and follows its events until the app ends.
    func run() async {
        do {
            var configuration = Configuration()
            configuration.hosts = ["0.0.0.0", "::"]
            configuration.accounts = [.init(name: user, password: password)]
            let documents = try FileManager.default.url(
                for: .documentDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
            let server = try WebServer(sharing: documents.path, configuration: configuration)
            // Suspends the server in the background, and resumes it on the same port.
            observer = ApplicationObserver(server)
            let events = server.events
            try server.start()
            address = server.url ?? ""
            for await event in events {
                switch event {
                case .firstClientConnected: isConnected = true
                case .lastClientDisconnected: isConnected = false
                case .resumed: address = server.url ?? ""
                default: break
                }
            }
        } catch {
            problem = "\(error)"
        }
    }
}

// swift-tools-version: 6.3
import PackageDescription

/// The strict settings with which every target is built.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    // The fault hook of DavitSystem, which the crash tests need; release builds do not contain it.
    .define("DAVIT_FAULTS", .when(configuration: .debug)),
]

/// A library target; `dependencies` are the only modules it may import.
func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(of name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies, swiftSettings: strict)
}

/// An example program in one file, which is not part of any product.
func example(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: name, dependencies: ["Davit"] + dependencies, path: "Examples/\(name)", swiftSettings: strict)
}

let linux: Target.Dependency = .target(name: "CLinux", condition: .when(platforms: [.linux]))
let openSSL: Target.Dependency = .target(name: "COpenSSL", condition: .when(traits: ["TLS"]))
let libarchive: Target.Dependency = .target(name: "CArchive", condition: .when(traits: ["Archive"]))
let libcurl: Target.Dependency = .target(
    name: "CCURL", condition: .when(traits: ["OIDC", "ACME", "Webhooks", "S3"]))
let libnatpmp: Target.Dependency = .target(name: "CNATPMP", condition: .when(traits: ["NATMapping"]))
let libminiupnpc: Target.Dependency = .target(name: "CMiniUPnPC", condition: .when(traits: ["NATMapping"]))
let libldap: Target.Dependency = .target(name: "CLDAP", condition: .when(traits: ["LDAP"]))
let libpq: Target.Dependency = .target(name: "CPQ", condition: .when(traits: ["Postgres"]))
let seccomp: Target.Dependency = .target(
    name: "CSeccomp", condition: .when(platforms: [.linux], traits: ["Sandbox"]))
let qrencode: Target.Dependency = .target(name: "CQRCode", condition: .when(traits: ["QRCode"]))
let libyaml: Target.Dependency = .target(name: "CYAML", condition: .when(traits: ["YAML"]))

let package = Package(
    name: "davit",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    products: [
        .library(name: "Davit", targets: ["Davit"]),
        // A separate product, because it links Foundation.
        .library(name: "DavitJSON", targets: ["DavitJSON"]),
        // A stand-in server for tests and demonstrations of clients.
        .library(name: "DavitStub", targets: ["DavitStub"]),
        // Passwords of a directory, with the package trait `LDAP`.
        .library(name: "DavitLDAP", targets: ["DavitLDAP"]),
        // Signing in with OpenID Connect, with the package trait `OIDC`.
        .library(name: "DavitOIDC", targets: ["DavitOIDC"]),
        // Certificates of an ACME authority, with the package trait `ACME`.
        .library(name: "DavitACME", targets: ["DavitACME"]),
        // Ports of a router, with the package trait `NATMapping`.
        .library(name: "DavitNATMapping", targets: ["DavitNATMapping"]),
        // Passwords of the system, with the package trait `PAM`, and the program that it needs.
        .library(name: "DavitPAM", targets: ["DavitPAM"]),
        .executable(name: "davit-pam-helper", targets: ["davit-pam-helper"]),
        .executable(name: "davit", targets: ["DavitCommand"]),
    ],
    traits: [
        .default(enabledTraits: ["TLS", "Archive", "QRCode", "YAML", "Sandbox"]),
        .trait(name: "TLS", description: "TLS, digests and hashed passwords, through OpenSSL 3"),
        .trait(name: "Archive", description: "Folders as ZIP files, through libarchive"),
        .trait(name: "Sandbox", description: "Filters for system calls on Linux, through libseccomp"),
        // Not in the default traits: few servers use them, and each loads further libraries.
        .trait(name: "LDAP", description: "Passwords of a directory, through libldap"),
        .trait(
            name: "OIDC", description: "Signing in with OpenID Connect, through libcurl",
            enabledTraits: ["TLS"]),
        .trait(
            name: "ACME",
            description: "Certificates of an ACME authority such as Let's Encrypt, through libcurl",
            enabledTraits: ["TLS"]),
        .trait(name: "PAM", description: "Passwords of the system, through a helper program with libpam"),
        .trait(
            name: "Webhooks", description: "Events as HTTPS requests, through libcurl",
            enabledTraits: ["TLS"]),
        .trait(
            name: "NATMapping", description: "Ports of a router, through libnatpmp and miniupnpc"),
        .trait(name: "Postgres", description: "Shares in a PostgreSQL database, through libpq"),
        .trait(
            name: "S3", description: "The content of such shares in an S3 bucket, through libcurl",
            enabledTraits: ["TLS", "Postgres"]),
        .trait(name: "QRCode", description: "Addresses as QR codes, through libqrencode"),
        .trait(name: "YAML", description: "The configuration file, through libyaml"),
    ],
    targets: [
        // C libraries. Each target consists of a module map and a shim header.
        .systemLibrary(name: "CLinux"),
        .systemLibrary(
            name: "CXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"]), .brew(["libxml2"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(
            name: "CArchive", pkgConfig: "libarchive",
            providers: [.apt(["libarchive-dev"]), .brew(["libarchive"])]),
        .systemLibrary(
            name: "CQRCode", pkgConfig: "libqrencode",
            providers: [.apt(["libqrencode-dev"]), .brew(["qrencode"])]),
        .systemLibrary(
            name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"]), .brew(["libyaml"])]),

        // No pkgConfig: the headers are in the standard folders, and SwiftPM would warn if they are not installed.
        .systemLibrary(name: "CSeccomp", providers: [.apt(["libseccomp-dev"])]),
        .systemLibrary(name: "CCURL", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CLDAP", providers: [.apt(["libldap-dev"])]),
        .systemLibrary(name: "CNATPMP", providers: [.apt(["libnatpmp-dev"])]),
        .systemLibrary(name: "CMiniUPnPC", providers: [.apt(["libminiupnpc-dev"])]),
        .systemLibrary(name: "CPQ", providers: [.apt(["libpq-dev"])]),

        // The layers, from sockets and messages through the HTTP application and WebDAV to the stores.
        library("DavitSystem", [linux]),
        library("DavitHTTP"),
        library("DavitCrypto", ["DavitHTTP", openSSL]),
        library("DavitZlib", ["CZlib"]),
        library("DavitArchive", [libarchive]),
        library("DavitQRCode", [qrencode]),
        // The restrictions of a running server.
        .target(
            name: "DavitSandbox", dependencies: ["DavitSystem", seccomp],
            swiftSettings: strict + [
                .define("DAVIT_SECCOMP", .when(platforms: [.linux], traits: ["Sandbox"]))
            ]),
        // Files of settings, as trees of texts with their positions.
        library("DavitYAML", [libyaml]),
        library("DavitServer", ["DavitAccess", "DavitZlib", "DavitCrypto", "DavitHTTP"]),
        // Slow and faulty responses, to test clients.
        library("DavitFaults", ["DavitWebDAV", "DavitServer", "DavitHTTP"]),
        // The only target that may import Foundation.
        library("DavitJSON", ["DavitServer", "DavitHTTP"]),
        library("DavitLogging", ["DavitAccess", "DavitSystem", "DavitHTTP"]),
        // Metrics and health checks: their text formats, and the routes of the admin listener.
        library("DavitMetrics", ["DavitServer", "DavitHTTP"]),
        library(
            "DavitTransport", ["DavitServer", "DavitLogging", "DavitCrypto", "DavitSystem", "DavitHTTP"]),
        library("DavitXML", ["DavitHTTP", "CXML2"]),
        // How other machines find a server in the local network.
        library(
            "DavitDiscovery",
            ["DavitXML", "DavitServer", "DavitLogging", "DavitSystem", "DavitHTTP"]),
        library("DavitWebDAV", ["DavitXML", "DavitHTTP"]),
        // Who may do what: pure rules, without input or output.
        library("DavitAccess", ["DavitHTTP"]),
        library("DavitStore", ["DavitAccess", "DavitWebDAV", "DavitHTTP"]),
        library("DavitFileStore", ["DavitStore", "DavitSystem", "DavitHTTP"]),
        library("DavitSQLite", ["DavitStore", "DavitWebDAV", "DavitHTTP", "CSQLite"]),
        // Accounts, groups and rules, and their database.
        library(
            "DavitAccounts",
            ["DavitAccess", "DavitPostgres", "DavitSQLite", "DavitStore", "DavitSystem", "DavitHTTP"]),
        // The journal of changes in a folder, for clients that synchronize.
        library(
            "DavitJournal", ["DavitSQLite", "DavitFileStore", "DavitStore", "DavitSystem", "DavitHTTP"]),
        library(
            "DavitEngine",
            ["DavitServer", "DavitStore", "DavitAccess", "DavitWebDAV", "DavitXML", "DavitHTTP"]),
        // Passwords of a directory.
        library("DavitLDAP", ["DavitServer", "DavitSystem", libldap]),
        // Connections to PostgreSQL.
        library("DavitPostgres", ["DavitSystem", libpq]),
        // The content of shares in a database, as objects that never change.
        library("DavitBlobs", ["DavitWebClient", "DavitServer", "DavitXML", "DavitSystem", "DavitHTTP"]),
        // Shares in a database that several servers use.
        library(
            "DavitTree",
            [
                "DavitBlobs", "DavitPostgres", "DavitStore", "DavitServer", "DavitWebDAV", "DavitSystem",
                "DavitHTTP",
            ]),
        // Ports of a router.
        library("DavitNATMapping", ["DavitServer", "DavitSystem", libnatpmp, libminiupnpc]),
        // Requests to other services, and the JSON in their responses.
        library("DavitWebClient", ["DavitSQLite", "DavitHTTP", libcurl]),
        // Signing in at an OpenID Connect provider.
        library(
            "DavitOIDC",
            ["DavitWebClient", "DavitServer", "DavitCrypto", "DavitSQLite", "DavitSystem", "DavitHTTP"]),
        // Certificates of an ACME authority.
        library(
            "DavitACME",
            ["DavitWebClient", "DavitServer", "DavitCrypto", "DavitSQLite", "DavitSystem", "DavitHTTP"]),
        // Events for other programs and services, stored until they have been received.
        library(
            "DavitOutbox",
            [
                "DavitWebClient", "DavitLogging", "DavitSQLite", "DavitStore", "DavitAccess", "DavitCrypto",
                "DavitSystem", "DavitHTTP",
            ]),
        // Passwords of the system. The helper is written in C, because it may have permissions that the server does not
        // have: without a runtime library, there is less of it to trust.
        library("DavitPAM", ["DavitServer", "DavitSystem"]),
        .executableTarget(
            name: "davit-pam-helper", path: "Sources/PAMHelper",
            cSettings: [.define("DAVIT_PAM", .when(traits: ["PAM"]))],
            linkerSettings: [.linkedLibrary("pam", .when(traits: ["PAM"]))]),
        // The HTML listings of folders, for WebDAV and for websites.
        library("DavitListing", ["DavitServer", "DavitStore", "DavitHTTP"]),
        // The browser page; its files are part of the binary.
        .target(name: "CPageFiles"),
        .target(
            name: "DavitPage",
            dependencies: [
                "CPageFiles", "DavitArchive", "DavitQRCode", "DavitEngine", "DavitListing", "DavitServer",
                "DavitStore", "DavitAccess", "DavitHTTP",
            ],
            exclude: ["Files"], swiftSettings: strict),

        // Recorded sessions as text, which `--record` writes and `davit replay` replays.
        library(
            "DavitRecording",
            [
                "DavitTransport", "DavitLogging", "DavitCrypto", "DavitZlib", "DavitXML", "DavitSystem",
                "DavitHTTP",
            ]),
        // Files and folders as responses, for websites without WebDAV.
        library(
            "DavitSite",
            ["DavitListing", "DavitFileStore", "DavitStore", "DavitServer", "DavitSystem", "DavitHTTP"]),

        // Requests from `davit` commands to the server that uses a state folder, over a socket in that
        // folder.
        library(
            "DavitControl",
            [
                "DavitAccess", "DavitAccounts", "DavitQRCode", "DavitServer", "DavitEngine", "DavitSQLite",
                "DavitStore", "DavitWebDAV", "DavitSystem", "DavitHTTP",
            ]),

        // The library, and the command.
        library(
            "Davit",
            [
                "DavitFaults", "DavitControl", "DavitDiscovery", "DavitMetrics", "DavitOutbox", "DavitQRCode",
                "DavitRecording",
                "DavitTransport",
                "DavitLogging", "DavitCrypto",
                "DavitEngine", "DavitPage", "DavitSite", "DavitFileStore", "DavitJournal", "DavitSQLite",
                "DavitTree", "DavitBlobs", "DavitPostgres", "DavitStore", "DavitServer", "DavitAccess",
                "DavitAccounts",
                "DavitSystem", "DavitHTTP",
            ]),
        // A stand-in server with rules in an SQLite database, and its page.
        .target(name: "CStubPage"),
        .target(
            name: "DavitStub",
            dependencies: [
                "CStubPage", "Davit", "DavitFaults", "DavitRecording", "DavitSite", "DavitXML", "DavitSQLite",
                "DavitStore", "DavitServer", "DavitSystem", "DavitHTTP",
            ],
            exclude: ["Page/Files"], swiftSettings: strict),
        .executableTarget(
            name: "DavitCommand",
            dependencies: [
                "Davit", "DavitTree", "DavitSandbox", "DavitOutbox", "DavitNATMapping", "DavitACME",
                "DavitLDAP",
                "DavitOIDC", "DavitPAM",
                "DavitStub",
                "DavitFaults",
                "DavitControl",
                "DavitRecording",
                "DavitTransport", "DavitLogging",
                "DavitCrypto",
                "DavitQRCode", "DavitYAML", "DavitEngine", "DavitPage", "DavitFileStore", "DavitSQLite",
                "DavitStore",
                "DavitServer", "DavitAccess", "DavitAccounts",
                "DavitSystem", "DavitHTTP",
            ],
            swiftSettings: strict),

        // Example programs, and the other code blocks of the documentation (Guide). `make bench` also uses
        // Uploads and Website.
        example("Hello"),
        example("Forms"),
        example("Uploads"),
        example("Streaming"),
        example("Events"),
        example("JSONAPI", ["DavitJSON"]),
        example("Website"),
        example("ShareFolder"),
        example("MountedShare"),
        example("SiteWithAPI"),
        example("Visits"),
        .testTarget(
            name: "StubExampleTests", dependencies: ["DavitStub"], path: "Examples/Stub/Tests",
            swiftSettings: strict),
        .target(name: "Guide", dependencies: ["Davit"], path: "Examples/Guide", swiftSettings: strict),

        // The server for the client tests; not part of any product.
        .executableTarget(
            name: "ClientServer", dependencies: ["Davit"], path: "Tests/Clients/Server", swiftSettings: strict
        ),

        // The micro-benchmarks of `make micro`; not part of any product.
        .executableTarget(
            name: "DavitBenchmarks",
            dependencies: [
                "DavitEngine", "DavitWebDAV", "DavitServer", "DavitLogging", "DavitHTTP", "DavitSystem",
            ],
            swiftSettings: strict),

        // The fuzz targets, and the program that runs them in `make test`; not part of any product.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "DavitArchive", "DavitEngine", "DavitStore", "DavitTesting", "DavitServer", "DavitWebDAV",
                "DavitXML", "DavitYAML", "DavitHTTP",
            ],
            path: "Fuzz/Targets", swiftSettings: strict),
        .executableTarget(
            name: "FuzzReplay", dependencies: ["FuzzTargets", "DavitTesting", "DavitSystem"],
            path: "Fuzz/Replay", swiftSettings: strict),

        // A program to which a test sends real signals.
        .executableTarget(
            name: "TwoServers", dependencies: ["Davit", "DavitSystem"], path: "Tests/Fixtures/TwoServers",
            swiftSettings: strict),

        // A program that enters the sandbox of the command, and then makes calls that are forbidden there.
        .target(name: "CSandboxAttempts", path: "Tests/Fixtures/CSandboxAttempts"),
        .executableTarget(
            name: "SandboxAttempts", dependencies: ["CSandboxAttempts", "DavitCommand", "DavitSandbox"],
            path: "Tests/Fixtures/SandboxAttempts", swiftSettings: strict),

        // Code that is shared by tests.
        library(
            "DavitTesting",
            [
                "DavitTransport", "DavitStore", "DavitServer", "DavitCrypto", "DavitZlib", "DavitSystem",
                "DavitHTTP", openSSL,
            ]),

        tests(of: "DavitSystem", ["DavitTesting"]),
        tests(of: "DavitLogging", ["DavitTesting", "DavitAccess", "DavitSystem", "DavitHTTP"]),
        tests(of: "DavitHTTP", ["DavitTesting", "DavitSystem"]),
        tests(of: "DavitMetrics", ["DavitTesting", "DavitServer", "DavitHTTP"]),
        tests(of: "DavitCrypto", ["DavitTesting", "DavitHTTP", openSSL]),
        tests(of: "DavitZlib", []),
        tests(of: "DavitArchive", ["DavitTesting"]),
        tests(of: "DavitBlobs", ["DavitTesting", "DavitHTTP"]),
        tests(of: "DavitQRCode", []),
        tests(of: "DavitYAML", []),
        tests(
            of: "DavitServer",
            ["DavitTesting", "DavitAccess", "DavitLogging", "DavitZlib", "DavitCrypto", "DavitHTTP"]),
        tests(of: "DavitLDAP", ["DavitTesting", "DavitServer", "DavitCrypto", "DavitSystem", "DavitHTTP"]),
        tests(
            of: "DavitOIDC",
            [
                "Davit", "DavitWebClient", "DavitTesting", "DavitServer", "DavitCrypto", "DavitSQLite",
                "DavitSystem", "DavitHTTP", openSSL,
            ]),
        tests(of: "DavitWebClient", []),
        tests(
            of: "DavitOutbox",
            ["DavitTesting", "DavitAccess", "DavitLogging", "DavitSQLite", "DavitSystem", "DavitHTTP"]),
        tests(
            of: "DavitACME",
            ["DavitWebClient", "DavitTesting", "DavitServer", "DavitCrypto", "DavitSystem", "DavitHTTP"]),
        tests(of: "DavitPAM", ["DavitTesting", "DavitServer"]),
        // Run by scripts/cluster.sh, with a PostgreSQL server; empty without the trait `Postgres`.
        .executableTarget(
            name: "ClusterTests",
            dependencies: [
                "DavitSystem", .target(name: "DavitPostgres", condition: .when(traits: ["Postgres"])),
            ],
            path: "Tests/Cluster",
            exclude: [
                "accounts.py", "ceph.py", "checks.py", "clock.py", "cuts.py", "failover.py", "faults.py",
                "journal.py",
                "kills.py", "nodes.py", "outages.py", "patroni.py", "scale.py", "servers.py", "uploads.py",
            ],
            swiftSettings: strict),
        tests(of: "DavitJSON", ["DavitTesting", "DavitServer", "DavitHTTP"]),
        tests(
            of: "DavitFaults",
            ["DavitTesting", "DavitTransport", "DavitLogging", "DavitServer", "DavitSystem", "DavitHTTP"]),
        tests(
            of: "DavitStub",
            [
                "Davit", "DavitTesting", "DavitFaults", "DavitRecording", "DavitTransport", "DavitServer",
                "DavitSQLite", "DavitSystem", "DavitHTTP",
            ]),
        tests(
            of: "DavitTransport",
            [
                "DavitTesting", "DavitLogging", "DavitZlib", "DavitServer", "DavitCrypto", "DavitSystem",
                "DavitHTTP", openSSL,
            ]),
        tests(of: "DavitXML", ["DavitHTTP"]),
        tests(
            of: "DavitDiscovery",
            ["DavitTesting", "DavitXML", "DavitLogging", "DavitSystem", "DavitHTTP"]),
        tests(of: "DavitWebDAV", ["DavitTesting", "DavitHTTP", "DavitXML", openSSL]),
        tests(of: "DavitAccess", ["DavitTesting", "DavitHTTP"]),
        tests(
            of: "DavitAccounts",
            ["DavitTesting", "DavitAccess", "DavitSQLite", "DavitStore", "DavitSystem", "DavitHTTP"]),
        tests(of: "DavitStore", ["DavitTesting", "DavitSQLite", "DavitWebDAV", "DavitHTTP"]),
        tests(of: "DavitSQLite", ["DavitStore", "DavitWebDAV", "DavitSystem", "DavitHTTP"]),
        tests(of: "DavitFileStore", ["DavitStore", "DavitSystem", "DavitHTTP", linux]),
        tests(
            of: "DavitJournal",
            ["DavitTesting", "DavitFileStore", "DavitStore", "DavitSystem", "DavitHTTP"]),
        tests(
            of: "DavitEngine",
            [
                "DavitFaults", "DavitTesting", "DavitZlib", "DavitFileStore", "DavitJournal", "DavitSQLite",
                "DavitStore", "DavitAccess", "DavitAccounts",
                "DavitWebDAV", "DavitServer", "DavitSystem", "DavitHTTP",
            ]),
        tests(
            of: "DavitPage",
            [
                "DavitArchive", "DavitQRCode", "DavitTesting", "DavitEngine", "DavitFileStore", "DavitAccess",
                "DavitListing", "DavitStore", "DavitServer", "DavitSystem", "DavitHTTP",
            ]),
        tests(
            of: "DavitRecording",
            [
                "Davit", "DavitCommand", "DavitTesting", "DavitTransport", "DavitLogging", "DavitSystem",
                "DavitHTTP",
            ]),
        tests(
            of: "DavitSite",
            [
                "DavitTesting", "DavitTransport", "DavitLogging", "DavitEngine", "DavitFileStore",
                "DavitStore", "DavitServer", "DavitZlib", "DavitSystem", "DavitHTTP",
            ]),
        tests(
            of: "DavitControl", ["DavitTesting", "DavitAccess", "DavitAccounts", "DavitSystem", "DavitHTTP"]),
        tests(
            of: "Davit",
            [
                "DavitFaults", "DavitAccess", "DavitAccounts", "DavitControl", "DavitDiscovery",
                "DavitMetrics",
                "DavitRecording",
                "DavitTesting", "DavitTransport", "DavitLogging",
                "DavitCrypto", "DavitFileStore", "DavitSQLite", "DavitStore", "DavitServer", "DavitSystem",
                "DavitHTTP", "TwoServers",
            ]),
        tests(of: "DavitSandbox", ["DavitTesting", "DavitSystem"]),
        tests(
            of: "DavitCommand",
            [
                "Davit", "DavitACME", "DavitCrypto", "DavitSandbox", "DavitAccess", "DavitControl",
                "DavitLDAP",
                "DavitOIDC", "DavitPAM",
                "DavitRecording",
                "DavitTesting",
                "DavitFileStore",
                "DavitServer", "DavitSystem", "DavitHTTP",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// Only for `make fuzz`: linked with libFuzzer, and useful only if all modules are built for fuzzing.
if Context.environment["DAVIT_FUZZ"] != nil {
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Fuzz/CFuzzer"),
        .executableTarget(
            name: "DavitFuzz", dependencies: ["CFuzzer", "FuzzTargets"], path: "Fuzz/Driver",
            swiftSettings: strict),
    ]
}

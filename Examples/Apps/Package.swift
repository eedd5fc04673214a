// swift-tools-version: 6.3
import PackageDescription

// The app as a program for macOS; README.md describes the other systems. Without traits, davit needs no libraries that are
// missing on iOS, tvOS and visionOS.
let package = Package(
    name: "ShareApp",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    dependencies: [.package(name: "davit", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "ShareApp", dependencies: [.product(name: "Davit", package: "davit")], path: "ShareApp")
    ],
    swiftLanguageModes: [.v6]
)

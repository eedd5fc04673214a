import DavitAccess
import DavitHTTP
import DavitTesting

/// Random rules, and the rights that follow from them, computed by comparing strings without any data structure.
struct AccessOracle {
    static let names = ["a", "b", "Müll", "Mu\u{308}ll", "a b"]
    static let users = ["anna", "ben", "carla"]
    static let groups = ["team", "guests", "empty"]

    var rules: [AccessRule] = []
    var members: [String: Set<String>] = [:]

    /// All paths with at most three segments.
    static let paths: [String] = {
        var paths = [""]
        var last = [""]
        for _ in 0..<3 {
            last = last.flatMap { path in names.map { path + "/" + $0 } }
            paths += last
        }
        return paths
    }()

    static func path(_ text: String) -> ResourcePath {
        ResourcePath(segments: text.split(separator: "/").map(\.utf8))!
    }

    /// Returns random rules without duplicates.
    static func random(_ random: inout SeededGenerator) -> AccessOracle {
        var oracle = AccessOracle()
        for group in groups { oracle.members[group] = Set(users.filter { _ in Bool.random(using: &random) }) }
        oracle.members["empty"] = []
        var seen: Set<String> = []
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let subject: AccessRule.Subject =
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1: .user(users.randomElement(using: &random)!)
                case 2, 3: .group(groups.randomElement(using: &random)!)
                case 4: .everyone
                default: .anonymous
                }
            let depth = Int.random(in: 0...3, using: &random)
            let path = (0..<depth).reduce("") { path, _ in path + "/" + names.randomElement(using: &random)! }
            // Swift compares strings by canonical equivalence.
            guard seen.insert("\(subject) \(path)").inserted else { continue }
            let rights =
                Bool.random(using: &random)
                ? Rights.presets.randomElement(using: &random)!.rights
                : Rights(rawValue: UInt8.random(in: 0..<128, using: &random))
            oracle.rules.append(AccessRule(subject, Self.path(path), rights))
        }
        return oracle
    }

    /// Whether `path` is `folder` or below it.
    private static func isBelow(_ folder: String, _ path: String) -> Bool {
        folder.isEmpty || path == folder || path.hasPrefix(folder + "/")
    }

    private static func text(_ path: ResourcePath) -> String { path.isRoot ? "" : path.description }

    func rights(of principal: Principal, at path: String) -> Rights {
        var found = Rights.none
        // From the root down, so that deeper rules replace others.
        for folder in Self.ancestors(of: path) {
            let here = rules.filter { Self.text($0.path) == folder }
            if principal.kind == .anonymous {
                if let rule = here.first(where: { $0.subject == .anonymous }) { found = rule.rights }
                continue
            }
            let inGroups = here.filter {
                guard case .group(let name) = $0.subject else { return false }
                return principal.groups.contains(name) || members[name]!.contains(principal.name!)
            }
            if let rule = here.first(where: { $0.subject == .user(principal.name!) }) {
                found = rule.rights
            } else if !inGroups.isEmpty {
                found = inGroups.reduce(.none) { $0.union($1.rights) }
            } else if let rule = here.first(where: { $0.subject == .everyone }) {
                found = rule.rights
            }
        }
        guard let limit = principal.limit else { return found }
        return Self.isBelow(Self.text(limit.path), path) ? found.intersection(limit.rights) : .none
    }

    /// Every path at and below `path` that can differ from it.
    private func below(_ path: String) -> [String] { Self.paths.filter { Self.isBelow(path, $0) } }

    func leadsToRights(_ path: String, _ principal: Principal) -> Bool {
        // Rights change only where a rule or the limit begins. Without one below the path, it leads to nothing new.
        let places = rules.map { Self.text($0.path) } + (principal.limit.map { [Self.text($0.path)] } ?? [])
        return below(path).contains { member in
            member != path && !rights(of: principal, at: member).isEmpty
                && places.contains { Self.isBelow(path, $0) && $0 != path }
        }
    }

    func rightsThroughout(_ path: String, _ principal: Principal) -> Rights {
        below(path).reduce(.all) { $0.intersection(rights(of: principal, at: $1)) }
    }

    private static func ancestors(of path: String) -> [String] {
        var folders = [""]
        for name in path.split(separator: "/") { folders.append(folders.last! + "/" + name) }
        return folders
    }

    func principal(_ random: inout SeededGenerator) -> Principal {
        if Int.random(in: 0..<8, using: &random) == 0 { return .anonymous }
        let limit: AccessLimit? =
            Int.random(in: 0..<3, using: &random) == 0
            ? AccessLimit(
                path: Self.path(Self.paths.randomElement(using: &random)!),
                rights: Rights.presets.randomElement(using: &random)!.rights) : nil
        let claimed: Set<String> = Int.random(in: 0..<4, using: &random) == 0 ? ["guests"] : []
        return Principal(
            limit == nil ? .account : .appPassword, Self.users.randomElement(using: &random)!,
            groups: claimed,
            limit: limit)
    }
}

import CFuzzer
import FuzzTargets

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

// Usage: DavitFuzz TARGET [libFuzzer arguments]
//
// To merge corpora, libFuzzer runs this program again with its own arguments only. It then takes the target from the
// environment.
let variable = "DAVIT_FUZZ_TARGET"
var rest = CommandLine.arguments.dropFirst()
var name = unsafe getenv(variable).map { unsafe String(cString: $0) }
if name == nil { name = rest.popFirst() }
guard let name, let target = FuzzTarget(rawValue: name), unsafe setenv(variable, name, 1) == 0 else {
    let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")
    print("usage: DavitFuzz \(names) [-max_total_time=SECONDS] [FOLDER...]")
    exit(64)
}

/// The target of this process.
enum Selection {
    /// Set once, before the first input; libFuzzer runs on one thread.
    nonisolated(unsafe) static var target = FuzzTarget.head
}

// libFuzzer uses the arguments until the process ends, so they are never freed.
let words = CommandLine.arguments.prefix(1) + rest
let vector = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: words.count + 1)
for (index, word) in words.enumerated() { unsafe vector[index] = strdup(word) }
unsafe vector[words.count] = nil
var count = CInt(words.count)
var pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe vector
unsafe Selection.target = target
exit(
    unsafe LLVMFuzzerRunDriver(&count, &pointer) { data, size in
        unsafe Selection.target.run(Array(UnsafeBufferPointer(start: data, count: size)))
        return 0
    })

import CFuzzer

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

// Usage: DavitFuzz TARGET [libFuzzer arguments]
let arguments = CommandLine.arguments
guard arguments.count > 1, let target = FuzzTarget(rawValue: arguments[1]) else {
    let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")
    print("usage: DavitFuzz \(names) [-max_total_time=SECONDS] [FOLDER...]")
    exit(64)
}

// libFuzzer uses the arguments until the process ends, so they are never freed.
let words = [arguments[0]] + arguments.dropFirst(2)
let vector = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: words.count + 1)
for (index, word) in words.enumerated() { unsafe vector[index] = strdup(word) }
unsafe vector[words.count] = nil
var count = CInt(words.count)
var pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe vector
unsafe FuzzTarget.chosen = target
exit(
    unsafe LLVMFuzzerRunDriver(&count, &pointer) { data, size in
        unsafe FuzzTarget.chosen.run(Array(UnsafeBufferPointer(start: data, count: size)))
        return 0
    })

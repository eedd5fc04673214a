import DavitJournal
import Testing

/// The names that a journal stores between two comparisons.
struct DirtyNamesTests {
    private static func record(_ count: Int, in folder: Int64, _ names: inout DirtyNames) {
        for number in 0..<count { names.record(Array("\(number)".utf8), in: folder, .arrived) }
    }

    @Test func namesOfAFolderAreLimited() {
        var names = DirtyNames()
        Self.record(DirtyNames.namesOfFolder, in: 1, &names)
        Self.record(1, in: 2, &names)
        names.record(Array("0".utf8), in: 1, .arrived)
        var taken = names.take()
        #expect(taken.whole.isEmpty && taken.names[1]?.count == DirtyNames.namesOfFolder)
        Self.record(DirtyNames.namesOfFolder + 1, in: 1, &names)
        Self.record(1, in: 2, &names)
        taken = names.take()
        #expect(taken.whole == [1] && taken.names.keys.sorted() == [2])
    }

    @Test func namesOfAllFoldersAreLimited() {
        var names = DirtyNames()
        let folders = Int64(DirtyNames.nameLimit / DirtyNames.namesOfFolder)
        for folder in 1...folders { Self.record(DirtyNames.namesOfFolder, in: folder, &names) }
        var taken = names.take()
        #expect(taken.whole.isEmpty && taken.names.count == Int(folders))
        for folder in 1...folders { Self.record(DirtyNames.namesOfFolder, in: folder, &names) }
        Self.record(1, in: folders + 1, &names)
        taken = names.take()
        #expect(taken.names.isEmpty && taken.whole == Set(1...(folders + 1)))
    }
}

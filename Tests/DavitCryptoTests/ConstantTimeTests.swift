import DavitCrypto
import DavitHTTP
import Testing

struct ConstantTimeTests {
    @Test func everyBitIsCompared() {
        let bytes = RandomBytes.make(count: 40)
        #expect(ConstantTime.areEqual(bytes, bytes))
        #expect(ConstantTime.areEqual([], []))
        #expect(!ConstantTime.areEqual(bytes, []))
        #expect(!ConstantTime.areEqual(bytes, bytes + [0]))
        for index in bytes.indices {
            for bit in 0..<8 {
                var other = bytes
                other[index] ^= 1 << UInt8(bit)
                #expect(!ConstantTime.areEqual(bytes, other))
            }
        }
    }

    @Test func randomBytesHaveTheRequestedLengthAndDiffer() {
        for count in 0...33 { #expect(RandomBytes.make(count: count).count == count) }
        // Equal values have a probability of 1 in 2^128; they indicate a broken generator.
        #expect(RandomBytes.make(count: 16) != RandomBytes.make(count: 16))
    }

    @Test func hexadecimalTextIsReadInEitherCase() {
        let bytes = (0...255).map { UInt8($0) }
        let text = HexText.encode(bytes)
        #expect(text.count == 512)
        #expect(HexText.decode(text) == bytes)
        #expect(HexText.decode(Array("00fFAb".utf8)) == [0, 255, 171])
        #expect(HexText.decode([]) == [])
        for wrong in ["0", "0g", "g0", "000", " 0"] { #expect(HexText.decode(Array(wrong.utf8)) == nil) }
    }

    // RFC 8446 §5.1: 22 is a handshake record. Anything else is HTTP or invalid.
    @Test func onlyHandshakeRecordsBeginTLS() {
        for byte in UInt8.min...UInt8.max { #expect(TLSRecord.begins(with: byte) == (byte == 0x16)) }
        for method in ["GET", "OPTIONS", "PROPFIND", "!"] {
            #expect(!TLSRecord.begins(with: Array(method.utf8)[0]))
        }
    }

    @Test func libraryReportsWhetherOpenSSLIsAvailable() {
        #if TLS
        #expect(CryptoLibrary.isAvailable)
        #expect(CryptoLibrary.summary.hasPrefix("OpenSSL 3"))
        #else
        #expect(!CryptoLibrary.isAvailable)
        #expect(CryptoLibrary.summary.contains("without TLS"))
        #endif
    }
}

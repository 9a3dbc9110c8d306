import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.MongoServerError;
import de.bwaldvogel.mongo.wire.BsonConstants;
import de.bwaldvogel.mongo.wire.bson.BsonDecoder;
import de.bwaldvogel.mongo.wire.bson.BsonEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

final class Bson {

    private Bson() {
    }

    static byte[] encode(Document document) {
        ByteBuf buffer = Unpooled.buffer(256);
        BsonEncoder.encodeDocument(document, buffer);
        byte[] bytes = new byte[buffer.readableBytes()];
        buffer.readBytes(bytes);
        return bytes;
    }

    /** The protocol accepts a larger document in a write, but could never return it in a read. */
    static void checkSize(Document document) {
        int bytes = encode(document).length;
        if (bytes > BsonConstants.MAX_BSON_OBJECT_SIZE) {
            throw new MongoServerError(17419, "BSONObjectTooLarge",
                "resulting document is larger than 16 MiB: " + bytes + " bytes");
        }
    }

    static Document decode(byte[] bytes) { return BsonDecoder.decodeBson(Unpooled.wrappedBuffer(bytes)); }
}

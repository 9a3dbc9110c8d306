import java.nio.ByteBuffer;

import org.h2.mvstore.DataUtils;
import org.h2.mvstore.WriteBuffer;
import org.h2.mvstore.type.BasicDataType;
import org.h2.mvstore.type.StringDataType;

import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.backend.ValueComparator;
import de.bwaldvogel.mongo.bson.Document;

/**
 * The keys of documents and index entries. A key is a tuple of BSON values in MongoDB's comparison order, each part
 * ascending or descending. H2's own object type would compare the serialized bytes.
 */
final class KeyType extends BasicDataType<Object[]> {

    /** The last part of a search key: sorts before or after all keys that share the parts in front of it. */
    enum Bound { BEFORE, AFTER }

    private static final byte NULL = 0;
    private static final byte STRING = 1;
    private static final byte DOUBLE = 2;
    private static final byte LONG = 3;
    private static final byte BSON = 4;

    private static final ValueComparator VALUES = ValueComparator.asc();

    private final boolean[] ascending;

    KeyType(boolean... ascending) { this.ascending = ascending; }

    @Override public int compare(Object[] left, Object[] right) {
        int shared = Math.min(left.length, right.length);
        for (int i = 0; i < shared; i++) {
            int order = comparePart(left[i], right[i]);
            if (order != 0) {
                boolean reversed = i < ascending.length && !ascending[i] && !isBound(left[i]) && !isBound(right[i]);
                return reversed ? -order : order;
            }
        }
        if (left.length == right.length) {
            return 0;
        }
        return left.length > right.length ? tailOrder(left[shared]) : -tailOrder(right[shared]);
    }

    private static int tailOrder(Object nextPart) { return nextPart == Bound.BEFORE ? -1 : 1; }

    private static boolean isBound(Object part) { return part instanceof Bound; }

    private static int comparePart(Object left, Object right) {
        if (isBound(left) || isBound(right)) {
            return Integer.compare(boundOrder(left), boundOrder(right));
        }
        // A fast path for nearly all keys. The general comparison below tries fourteen types in turn.
        if (left instanceof String && right instanceof String) {
            return ((String) left).compareTo((String) right);
        }
        if (left instanceof Double && right instanceof Double) {
            // Adding zero makes -0.0 equal to 0.0.
            return Double.compare((Double) left + 0.0, (Double) right + 0.0);
        }
        return VALUES.compare(left, right);
    }

    private static int boundOrder(Object part) {
        if (part == Bound.BEFORE) {
            return -1;
        }
        return part == Bound.AFTER ? 1 : 0;
    }

    /** Estimates the size in bytes. H2 uses it to decide when to split a page. */
    @Override public int getMemory(Object[] key) {
        int bytes = 24;
        for (Object part : key) {
            bytes += part instanceof String ? 48 + ((String) part).length() : 40;
        }
        return bytes;
    }

    @Override public void write(WriteBuffer buffer, Object[] key) {
        buffer.putVarInt(key.length);
        for (Object part : key) {
            writePart(buffer, part);
        }
    }

    private static void writePart(WriteBuffer buffer, Object part) {
        if (Missing.isNullOrMissing(part)) {
            buffer.put(NULL);
        } else if (part instanceof String) {
            buffer.put(STRING);
            StringDataType.INSTANCE.write(buffer, (String) part);
        } else if (part instanceof Double) {
            buffer.put(DOUBLE).putLong(Double.doubleToRawLongBits((Double) part));
        } else if (part instanceof Long) {
            buffer.put(LONG).putLong((Long) part);
        } else {
            byte[] bytes = Bson.encode(new Document("", part));
            buffer.put(BSON).putVarInt(bytes.length).put(bytes);
        }
    }

    @Override public Object[] read(ByteBuffer buffer) {
        Object[] key = new Object[DataUtils.readVarInt(buffer)];
        for (int i = 0; i < key.length; i++) {
            key[i] = readPart(buffer);
        }
        return key;
    }

    private static Object readPart(ByteBuffer buffer) {
        byte kind = buffer.get();
        switch (kind) {
            case NULL:
                return null;
            case STRING:
                return StringDataType.INSTANCE.read(buffer);
            case DOUBLE:
                return Double.longBitsToDouble(buffer.getLong());
            case LONG:
                return buffer.getLong();
            case BSON:
                byte[] bytes = new byte[DataUtils.readVarInt(buffer)];
                buffer.get(bytes);
                return Bson.decode(bytes).get("");
            default:
                throw new IllegalStateException("unknown part of a key: " + kind);
        }
    }

    @Override public Object[][] createStorage(int size) { return new Object[size][]; }
}

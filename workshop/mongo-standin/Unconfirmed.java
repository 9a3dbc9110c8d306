import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;

import de.bwaldvogel.mongo.bson.Document;

/**
 * A collection's writes that no majority has acknowledged. Majority reads do not see those of the last 100 ms, which
 * simulates a MongoDB that has not written its journal yet. A real MongoDB may show them. Guarded by the collection's
 * lock.
 */
final class Unconfirmed {

    private static final long HIDDEN_NANOS = 100_000_000L;

    /** The concerns of the command that this thread is running. The gateway's writes have no read concern. */
    private static final ThreadLocal<Boolean> READS_CONFIRMED = ThreadLocal.withInitial(() -> false);
    private static final ThreadLocal<Boolean> WRITES_UNCONFIRMED = ThreadLocal.withInitial(() -> false);

    private final Map<Object, Before> writes = new HashMap<>();

    /** A document as it was before its first unconfirmed write, or null if it did not exist. */
    private static final class Before {
        private final byte[] document;
        private final long since;

        private Before(byte[] document, long since) {
            this.document = document;
            this.since = since;
        }
    }

    static void enter(Document command) {
        Object level = concern(command, "readConcern", "level");
        READS_CONFIRMED.set("majority".equals(level) || "linearizable".equals(level));
        // Without a write concern, the server's default applies, which is majority since MongoDB 5.0.
        Object members = concern(command, "writeConcern", "w");
        WRITES_UNCONFIRMED.set(members != null && !"majority".equals(members));
    }

    static void leave() {
        READS_CONFIRMED.remove();
        WRITES_UNCONFIRMED.remove();
    }

    private static Object concern(Document command, String name, String field) {
        Object concern = command.get(name);
        return concern instanceof Document ? ((Document) concern).get(field) : null;
    }

    void note(Object id, byte[] before) {
        forgetOld();
        if (!WRITES_UNCONFIRMED.get()) {
            writes.remove(id);
        } else if (!writes.containsKey(id)) {
            writes.put(id, new Before(before, System.nanoTime()));
        }
    }

    /** Returns true if this thread must not see every stored write. */
    boolean isHiding() {
        forgetOld();
        return READS_CONFIRMED.get() && !writes.isEmpty();
    }

    boolean hides(Object id) { return writes.containsKey(id); }

    Stream<Document> before(Function<byte[], Document> decode) {
        return writes.values().stream().filter(write -> write.document != null).map(write -> decode.apply(write.document));
    }

    private void forgetOld() {
        if (!writes.isEmpty()) {
            long now = System.nanoTime();
            writes.values().removeIf(write -> now - write.since > HIDDEN_NANOS);
        }
    }
}

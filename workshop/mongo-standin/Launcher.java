import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;

import org.h2.mvstore.MVStore;

import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.AbstractMongoBackend;
import de.bwaldvogel.mongo.backend.Utils;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;

/**
 * Replaces MongoDB in local mode on machines that cannot download a mongod: mongo-java-server on an H2 store, with real
 * indexes and durable writes. Usage: Launcher FILE PORT. Stops on SIGTERM.
 */
public final class Launcher extends AbstractMongoBackend {

    private static final Set<String> WRITES = Set.of("insert", "update", "delete", "findAndModify", "create",
        "createIndexes", "drop", "dropIndexes", "dropDatabase");
    private static final int CACHE_MEGABYTES = 64;
    /** Each connection is bound to one thread, which a write blocks until it is committed. */
    private static final int CONNECTION_THREADS = 32;

    private final MVStore store;
    private final GroupCommit commits;

    private Launcher(MVStore store) {
        super(clock());
        this.store = store;
        this.commits = new GroupCommit(store);
        version(new WireVersion());
        store.getMapNames().stream()
            .filter(name -> name.startsWith(IndexedDatabase.DATA_PREFIX))
            .map(name -> Utils.firstFragment(name.substring(IndexedDatabase.DATA_PREFIX.length())))
            .distinct()
            .forEach(this::resolveDatabase);
    }

    /** Tests can move the clock through CLOCK_FILE, a file with the milliseconds to add to the current time. */
    private static Clock clock() {
        String file = System.getenv("CLOCK_FILE");
        return file == null ? defaultClock() : new MovedClock(Path.of(file));
    }

    public static void main(String[] arguments) {
        MVStore store = new MVStore.Builder()
            .fileName(arguments[0])
            .autoCommitDisabled()
            .cacheSize(CACHE_MEGABYTES)
            .open();
        store.setRetentionTime(0);
        store.setVersionsToKeep(0);
        MongoServer server = new MongoServer(new Launcher(store));
        try {
            server.bind(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[1])), 1, CONNECTION_THREADS);
        } catch (Exception failure) {
            // Exits, because the server's and the store's threads would keep this useless process alive.
            System.err.println("cannot listen on port " + arguments[1] + ": " + failure.getMessage());
            store.closeImmediately();
            System.exit(1);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
    }

    @Override protected MongoDatabase openOrCreateDatabase(String name) {
        return new IndexedDatabase(name, store, getCursorRegistry());
    }

    @Override public Document handleMessage(MongoMessage message) {
        Document command = message.getDocument();
        Refusals.check(command);
        Unconfirmed.enter(command);
        try {
            return handle(message, command);
        } finally {
            Unconfirmed.leave();
        }
    }

    private Document handle(MongoMessage message, Document command) {
        if (WRITES.contains(command.keySet().iterator().next())) {
            return commits.write(() -> super.handleMessage(message));
        }
        Document response = read(message);
        if (isMajorityRead(command)) {
            commits.awaitVisible();
        }
        return response;
    }

    /** Registers the read, so that concurrent commits and compactions keep the pages that the read still needs. */
    private Document read(MongoMessage message) {
        MVStore.TxCounter version = store.registerVersionUsage();
        try {
            return super.handleMessage(message);
        } finally {
            store.deregisterVersionUsage(version);
        }
    }

    private static boolean isMajorityRead(Document command) {
        Object concern = command.get("readConcern");
        Object level = concern instanceof Document ? ((Document) concern).get("level") : null;
        return "majority".equals(level) || "linearizable".equals(level);
    }

    /** Adds the counter in the same place as mongod, so that tests can read it from both. */
    @Override public Document getServerStatus() {
        Document status = super.getServerStatus();
        Document executor = new Document("scannedObjects", IndexedCollection.SCANNED.sum());
        ((Document) status.get("metrics")).append("queryExecutor", executor);
        return status.append("storage", new Document("fileBytes", store.getFileStore().size()));
    }

    @Override public void close() {
        super.close();
        store.close();
    }

    private static final class MovedClock extends Clock {
        private final Path file;

        private MovedClock(Path file) {
            this.file = file;
        }

        @Override public Instant instant() {
            try {
                return Instant.now().plusMillis(Long.parseLong(Files.readString(file).trim()));
            } catch (IOException | NumberFormatException absent) {
                return Instant.now();
            }
        }

        @Override public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override public Clock withZone(ZoneId zone) {
            return this;
        }
    }

    /** The driver requires wire version 9 or later. MongoDB 5.0 uses version 13. */
    private static final class WireVersion implements MongoVersion {
        @Override public List<Integer> getVersionArray() {
            return List.of(5, 0, 0);
        }

        @Override public int getWireVersion() {
            return 13;
        }
    }
}

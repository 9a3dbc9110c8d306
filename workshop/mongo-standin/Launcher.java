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
 * The MongoDB of the local mode on machines that can fetch no mongod: mongo-java-server on an H2 store, with real
 * indexes and durable writes. Usage: Launcher FILE PORT. Ends with SIGTERM.
 */
public final class Launcher extends AbstractMongoBackend {

    private static final Set<String> WRITES = Set.of("insert", "update", "delete", "findAndModify", "create",
        "createIndexes", "drop", "dropIndexes", "dropDatabase");
    private static final int CACHE_MEGABYTES = 64;
    /** A connection stays on one thread, and a write waits there for its commit. */
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

    /** Tests can move the clock: they name a file whose milliseconds are added to the time. */
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
            // The threads of the server and of the store would keep a process that serves nobody.
            System.err.println("cannot listen on port " + arguments[1] + ": " + failure.getMessage());
            store.closeImmediately();
            System.exit(1);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
    }

    @Override
    protected MongoDatabase openOrCreateDatabase(String name) {
        return new IndexedDatabase(name, store, getCursorRegistry());
    }

    @Override
    public Document handleMessage(MongoMessage message) {
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

    /** Commits and compactions beside it leave the pages in place that it still needs. */
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

    /** With the counter where a mongod has it, so that one test reads both. */
    @Override
    public Document getServerStatus() {
        Document status = super.getServerStatus();
        Document executor = new Document("scannedObjects", IndexedCollection.SCANNED.sum());
        ((Document) status.get("metrics")).append("queryExecutor", executor);
        return status.append("storage", new Document("fileBytes", store.getFileStore().size()));
    }

    @Override
    public void close() {
        super.close();
        store.close();
    }

    private static final class MovedClock extends Clock {
        private final Path file;

        private MovedClock(Path file) {
            this.file = file;
        }

        @Override
        public Instant instant() {
            try {
                return Instant.now().plusMillis(Long.parseLong(Files.readString(file).trim()));
            } catch (IOException | NumberFormatException absent) {
                return Instant.now();
            }
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    }

    /** The driver refuses servers below wire version 9; 13 is MongoDB 5.0. */
    private static final class WireVersion implements MongoVersion {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(5, 0, 0);
        }

        @Override
        public int getWireVersion() {
            return 13;
        }
    }
}

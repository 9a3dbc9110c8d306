import java.time.Instant;
import java.util.List;
import java.util.Map;

import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.type.ByteArrayDataType;

import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.backend.AbstractSynchronizedMongoDatabase;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.DatabaseResolver;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.QueryParameters;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.MongoServerError;
import de.bwaldvogel.mongo.oplog.Oplog;
import io.netty.channel.Channel;

/** A database with one map per collection and per index, all in one store, so that a single commit covers them. */
final class IndexedDatabase extends AbstractSynchronizedMongoDatabase<Object> {

    static final String DATA_PREFIX = "data.";
    private static final String INDEX_PREFIX = "index.";

    /** The leading `$match` and `$limit` of the aggregation that this thread is running, with its collection. */
    private static final ThreadLocal<Map.Entry<String, QueryParameters>> HINT = new ThreadLocal<>();

    private final MVStore store;
    private final MVMap<String, Boolean> multikeyIndexes;

    IndexedDatabase(String name, MVStore store, CursorRegistry cursors) {
        super(name, cursors);
        this.store = store;
        this.multikeyIndexes = store.openMap("multikey");
        initializeNamespacesAndIndexes();
    }

    static QueryParameters takeHint(MongoCollection<?> collection) {
        Map.Entry<String, QueryParameters> hint = HINT.get();
        if (hint == null || !hint.getKey().equals(collection.getCollectionName())) {
            return null;
        }
        HINT.remove();
        return hint.getValue();
    }

    @Override public Document handleCommand(Channel channel, String command, Document query, DatabaseResolver resolver,
                                            Oplog oplog) {
        if (command.equals("hello")) {
            // One member that confirms only durable writes.
            return new Document("isWritablePrimary", true).append("setName", "stand-in")
                .append("maxWireVersion", 13).append("localTime", Instant.now()).append("ok", 1.0);
        }
        if (command.equals("aggregate")) {
            return aggregate(channel, command, query, resolver, oplog);
        }
        Document response = super.handleCommand(channel, command, query, resolver, oplog);
        if (command.equals("insert")) {
            correctInsertedCount(query, response);
        }
        return response;
    }

    private Document aggregate(Channel channel, String command, Document query, DatabaseResolver resolver,
                               Oplog oplog) {
        Object match = stage(query, 0, "$match");
        if (match instanceof Document) {
            Object limit = stage(query, 1, "$limit");
            int limitOrNone = limit instanceof Number ? ((Number) limit).intValue() : 0;
            HINT.set(Map.entry(query.get(command).toString(),
                new QueryParameters((Document) match, 0, limitOrNone)));
        }
        try {
            return super.handleCommand(channel, command, query, resolver, oplog);
        } finally {
            HINT.remove();
        }
    }

    private static Object stage(Document query, int place, String operator) {
        Object pipeline = query.get("pipeline");
        if (!(pipeline instanceof List) || ((List<?>) pipeline).size() <= place) {
            return null;
        }
        Object stage = ((List<?>) pipeline).get(place);
        return stage instanceof Document ? ((Document) stage).get(operator) : null;
    }

    /** The base class counts every document of the command as inserted, even after an error. */
    private static void correctInsertedCount(Document query, Document response) {
        List<?> errors = (List<?>) response.get("writeErrors");
        if (errors == null) {
            return;
        }
        boolean ordered = !Boolean.FALSE.equals(query.get("ordered"));
        int sent = ((List<?>) query.get("documents")).size();
        Object firstFailed = ((Document) errors.get(0)).get("index");
        response.put("n", ordered ? (Integer) firstFailed : Integer.valueOf(sent - errors.size()));
    }

    private String mapName(String prefix, String collection) { return prefix + getFullCollectionNamespace(collection); }

    private String indexMapName(String collection, String index) {
        return mapName(INDEX_PREFIX, collection) + "." + index;
    }

    private MVMap<Object[], byte[]> openDocuments(String collection) {
        return store.openMap(mapName(DATA_PREFIX, collection), new MVMap.Builder<Object[], byte[]>()
            .keyType(new KeyType(true)).valueType(ByteArrayDataType.INSTANCE));
    }

    @Override protected MongoCollection<Object> openOrCreateCollection(String name, CollectionOptions options) {
        return new IndexedCollection(this, name, options, openDocuments(name), cursorRegistry);
    }

    @Override protected Index<Object> openOrCreateUniqueIndex(String collection, String name, List<IndexKey> keys,
                                                              boolean sparse) {
        if (keys.size() == 1 && keys.get(0).getKey().equals("_id")) {
            return new IdIndex(name, keys, openDocuments(collection));
        }
        return openIndex(collection, name, keys, true, sparse);
    }

    @Override protected Index<Object> openOrCreateSecondaryIndex(String collection, String name, List<IndexKey> keys,
                                                                 boolean sparse) {
        return openIndex(collection, name, keys, false, sparse);
    }

    private OrderedIndex openIndex(String collection, String name, List<IndexKey> keys, boolean unique,
                                   boolean sparse) {
        boolean[] ascending = new boolean[keys.size()];
        for (int i = 0; i < ascending.length; i++) {
            ascending[i] = keys.get(i).isAscending();
        }
        MVMap<Object[], Object[]> entries = store.openMap(indexMapName(collection, name),
            new MVMap.Builder<Object[], Object[]>().keyType(new KeyType(ascending)).valueType(new KeyType(true)));
        return new OrderedIndex(name, keys, unique, sparse, entries, multikeyIndexes);
    }

    @Override protected void dropIndex(MongoCollection<Object> collection, String name) {
        super.dropIndex(collection, name);
        if (!name.equals("_id_")) {
            store.removeMap(indexMapName(collection.getCollectionName(), name));
        }
    }

    @Override public void dropCollection(String name, Oplog oplog) {
        super.dropCollection(name, oplog);
        store.removeMap(mapName(DATA_PREFIX, name));
    }

    @Override public void moveCollection(MongoDatabase from, MongoCollection<?> collection, String name) {
        throw new MongoServerError(115, "CommandNotSupported", "this server does not rename collections");
    }

    @Override protected long getStorageSize() { return store.getFileStore().size(); }
    @Override protected long getFileSize() { return getStorageSize(); }
}

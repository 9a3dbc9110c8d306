import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.h2.mvstore.MVMap;

import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.backend.AbstractSynchronizedMongoCollection;
import de.bwaldvogel.mongo.backend.ArrayFilters;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.DocumentWithPosition;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.QueryParameters;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.Utils;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.IndexBuildFailedException;
import de.bwaldvogel.mongo.oplog.Oplog;

/**
 * Documents by `_id`, as BSON. Each read decodes its own copy, so a response that is still being written to a
 * socket never shows half of a later update, and a commit never sees a half-changed document.
 */
final class IndexedCollection extends AbstractSynchronizedMongoCollection<Object> {

    /** The number of documents examined since startup. serverStatus reports it, and the index tests rely on it. */
    static final LongAdder SCANNED = new LongAdder();

    private final MVMap<Object[], byte[]> documents;
    private final Unconfirmed unconfirmed = new Unconfirmed();
    private boolean firstMatchOnly;

    IndexedCollection(MongoDatabase database, String name, CollectionOptions options,
                      MVMap<Object[], byte[]> documents, CursorRegistry cursors) {
        super(database, name, options, cursors);
        this.documents = documents;
    }

    private static Object[] key(Object position) {
        return new Object[] { position };
    }

    private Document load(Object value) {
        SCANNED.increment();
        return value instanceof byte[] ? Bson.decode((byte[]) value) : getDocument(((Object[]) value)[0]);
    }

    private Stream<Document> scan(boolean descending) {
        if (!descending) {
            return documents.values().stream().map(this::load);
        }
        return documents.entrySet().stream()
            .sorted((left, right) -> documents.getKeyType().compare(right.getKey(), left.getKey()))
            .map(entry -> load(entry.getValue()));
    }

    private List<QueryPlan.Source> sources() {
        return getIndexes().stream().map(QueryPlan.Source.class::cast).collect(Collectors.toList());
    }

    @Override protected synchronized QueryResult queryDocuments(Document query, Document orderBy, int skip, int limit,
                                                                int batchSize, Document projection) {
        boolean natural = orderBy != null && orderBy.containsKey("$natural");
        QueryPlan plan = natural ? null : QueryPlan.choose(query, orderBy, sources());
        int limitOrOne = firstMatchOnly ? 1 : limit;
        if (unconfirmed.isHiding()) {
            return matchDocumentsFromStream(confirmed(), query, orderBy, skip, limitOrOne, batchSize, projection);
        }
        if (plan == null) {
            return matchDocuments(query, orderBy, skip, limitOrOne, batchSize, projection);
        }
        return matchDocumentsFromStream(plan.values().map(this::load), query, plan.isSorted() ? null : orderBy,
            skip, limitOrOne, batchSize, projection);
    }

    private Stream<Document> confirmed() {
        Stream<Document> stored = documents.entrySet().stream()
            .filter(entry -> !unconfirmed.hides(entry.getKey()[0]))
            .map(entry -> load(entry.getValue()));
        return Stream.concat(stored, unconfirmed.before(this::load));
    }

    @Override
    protected QueryResult matchDocuments(Document query, Document orderBy, int skip, int limit, int batchSize,
                                         Document projection) {
        Stream<Document> all = scan(isNaturalDescending(orderBy));
        return matchDocumentsFromStream(all, query, orderBy, skip, limit, batchSize, projection);
    }

    /** Overridden because the base class would query every match, even if the command updates only the first. */
    @Override
    public synchronized Document updateDocuments(Document selector, Document update, ArrayFilters arrayFilters,
                                                 boolean isMulti, boolean isUpsert, Oplog oplog) {
        firstMatchOnly = !isMulti;
        try {
            return super.updateDocuments(selector, update, arrayFilters, isMulti, isUpsert, oplog);
        } finally {
            firstMatchOnly = false;
        }
    }

    /** The base class builds an index without the collection's lock, and leaves a partial index after a failure. */
    @Override public synchronized void addIndex(Index<Object> index) {
        try {
            super.addIndex(index);
        } catch (IndexBuildFailedException error) {
            ((OrderedIndex) index).clear();
            throw error;
        }
    }

    @Override public synchronized void dropIndex(String name) { super.dropIndex(name); }

    /** The base class starts every aggregation with all documents. The hint narrows them down by the first stages. */
    @Override public Stream<Document> queryAllAsStream() {
        QueryParameters beginning = IndexedDatabase.takeHint(this);
        if (beginning == null) {
            return super.queryAllAsStream();
        }
        return StreamSupport.stream(handleQuery(beginning).spliterator(), false);
    }

    @Override public synchronized int count(Document query, int skip, int limit) {
        return super.count(query, skip, limit);
    }

    @Override public int count() { return documents.size(); }
    @Override public boolean isEmpty() { return documents.isEmpty(); }

    @Override protected Object addDocumentInternal(Document document) {
        Object id = getIdField() == null ? nextPosition() : Utils.getSubdocumentValue(document, getIdField());
        unconfirmed.note(id, null);
        documents.put(key(id), Bson.encode(document));
        return id;
    }

    /** Only the list of indexes has no `_id`. Its positions preserve the creation order. */
    private Long nextPosition() {
        Object[] last = documents.lastKey();
        return last == null ? 0L : (Long) last[0] + 1;
    }

    @Override protected Document getDocument(Object position) { return Bson.decode(documents.get(key(position))); }

    @Override protected void removeDocument(Object position) {
        byte[] before = documents.remove(key(position));
        unconfirmed.note(position, before);
        if (before == null) {
            throw new NoSuchElementException("no document with key " + position);
        }
    }

    @Override protected void handleUpdate(Object position, Document before, Document after) {
        unconfirmed.note(position, documents.put(key(position), Bson.encode(after)));
    }

    @Override protected Stream<DocumentWithPosition<Object>> streamAllDocumentsWithPosition() {
        return documents.entrySet().stream()
            .map(entry -> new DocumentWithPosition<>(Bson.decode(entry.getValue()), entry.getKey()[0]));
    }

    /** Tracking would encode every document a second time for an unused number. */
    @Override protected boolean tracksDataSize() { return false; }

    @Override protected void updateDataSize(int sizeDelta) {
        throw new UnsupportedOperationException("data size is not tracked");
    }

    @Override protected int getDataSize() { return 0; }
}

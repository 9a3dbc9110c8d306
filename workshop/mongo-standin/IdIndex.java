import java.util.Collections;
import java.util.List;

import org.h2.mvstore.MVMap;

import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.KeyValue;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.DuplicateKeyError;

/** The index on `_id`. It is the document map itself and stores nothing else. */
final class IdIndex extends Index<Object> implements QueryPlan.Source {

    private final MVMap<Object[], byte[]> documents;

    IdIndex(String name, List<IndexKey> keys, MVMap<Object[], byte[]> documents) {
        super(name, keys, false);
        this.documents = documents;
    }

    @Override public boolean isUnique() { return true; }
    @Override public boolean isMultikey() { return false; }
    @Override public boolean omitsDocuments() { return false; }
    @Override public MVMap<Object[], ?> map() { return documents; }

    private boolean holds(Object id) {
        return documents.containsKey(new Object[] { id });
    }

    @Override public Object getPosition(Document document) {
        Object id = document.get("_id");
        return holds(id) ? id : null;
    }

    @Override public void checkAdd(Document document, MongoCollection<Object> collection) {
        Object id = document.get("_id");
        if (holds(id)) {
            throw new DuplicateKeyError(this, collection, getKeys(), new KeyValue(Collections.singletonList(id)));
        }
        Bson.checkSize(document);
    }

    @Override public void add(Document document, Object position, MongoCollection<Object> collection) {
        // The collection has already stored the document.
    }

    @Override public Object remove(Document document) { return getPosition(document); }

    @Override public void checkUpdate(Document before, Document after, MongoCollection<Object> collection) {
        // The base class refuses to change an _id. The size is checked here because nothing has been written yet.
        Bson.checkSize(after);
    }

    @Override
    public void updateInPlace(Document before, Document after, Object position, MongoCollection<Object> collection) {
        // An _id never changes (see checkUpdate).
    }

    @Override public boolean canHandle(Document query) { return false; }

    @Override public Iterable<Object> getPositions(Document query) {
        throw new UnsupportedOperationException("the collection plans queries");
    }

    @Override public long getCount() { return documents.sizeAsLong(); }

    /** Always false. If it were true, the base class would add every document a second time. */
    @Override public boolean isEmpty() { return false; }
    @Override public long getDataSize() { return 0; }

    @Override public void drop() {
        // The map is dropped with the collection.
    }
}

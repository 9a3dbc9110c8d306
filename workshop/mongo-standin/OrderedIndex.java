import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;

import org.h2.mvstore.MVMap;

import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.KeyValue;
import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.backend.Utils;
import de.bwaldvogel.mongo.backend.ValueComparator;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.DuplicateKeyError;

/**
 * A sorted secondary index, unique or not. A key consists of the indexed fields' values, followed by the document's
 * `_id` if the index is not unique. It maps to the `_id`. The collection plans queries itself (see QueryPlan), so the
 * base class's look-up methods are unused.
 */
final class OrderedIndex extends Index<Object> implements QueryPlan.Source {

    private final MVMap<Object[], Object[]> entries;
    private final Map<String, Boolean> multikeyIndexes;
    private final String mapName;
    private final boolean unique;

    OrderedIndex(String name, List<IndexKey> keys, boolean unique, boolean sparse,
                 MVMap<Object[], Object[]> entries, Map<String, Boolean> multikeyIndexes) {
        super(name, keys, sparse);
        this.unique = unique;
        this.entries = entries;
        this.multikeyIndexes = multikeyIndexes;
        this.mapName = entries.getName();
    }

    @Override public boolean isUnique() { return unique; }
    @Override public boolean isMultikey() { return multikeyIndexes.containsKey(mapName); }
    @Override public boolean omitsDocuments() { return isSparse(); }
    @Override public MVMap<Object[], ?> map() { return entries; }

    @Override public boolean hasSameOptions(Index<?> other) {
        return super.hasSameOptions(other) && toIndexDescription().equals(other.toIndexDescription());
    }

    /** Call this after a failed build. If you do not, the next build takes the leftovers for a complete index. */
    void clear() {
        entries.clear();
        drop();
    }

    private boolean isLeftOut(Document document) {
        return isSparse() && keys().stream()
            .allMatch(key -> Utils.getSubdocumentValue(document, key) instanceof Missing);
    }

    private List<Object[]> keysOf(Document document) {
        if (isLeftOut(document)) {
            return List.of();
        }
        List<Object[]> keys = new ArrayList<>(1);
        for (KeyValue values : getKeyValues(document)) {
            List<Object> parts = new ArrayList<>(values.size() + 1);
            values.forEach(parts::add);
            if (!unique) {
                parts.add(document.get("_id"));
            }
            keys.add(parts.toArray());
        }
        return keys;
    }

    private boolean holdsArray(Document document) {
        return keys().stream()
            .anyMatch(key -> Utils.getSubdocumentValueCollectionAware(document, key) instanceof Collection);
    }

    @Override public void checkAdd(Document document, MongoCollection<Object> collection) {
        checkUnique(document, null, collection);
    }

    @Override public void checkUpdate(Document before, Document after, MongoCollection<Object> collection) {
        checkUnique(after, before.get("_id"), collection);
    }

    private void checkUnique(Document document, Object ownId, MongoCollection<Object> collection) {
        if (!unique) {
            return;
        }
        for (Object[] key : keysOf(document)) {
            Object[] holder = entries.get(key);
            if (holder != null && (ownId == null || ValueComparator.asc().compare(holder[0], ownId) != 0)) {
                throw new DuplicateKeyError(this, collection, getKeys(), new KeyValue(Arrays.asList(key)));
            }
        }
    }

    /** Repeats the check, because checkAdd does not see documents added during an index build. */
    @Override public void add(Document document, Object position, MongoCollection<Object> collection) {
        checkUnique(document, position, collection);
        if (holdsArray(document)) {
            multikeyIndexes.put(mapName, Boolean.TRUE);
        }
        for (Object[] key : keysOf(document)) {
            entries.put(key, new Object[] { position });
        }
    }

    @Override public Object remove(Document document) {
        for (Object[] key : keysOf(document)) {
            entries.remove(key);
        }
        return document.get("_id");
    }

    @Override
    public void updateInPlace(Document before, Document after, Object position, MongoCollection<Object> collection) {
        if (!nullAwareEqualsKeys(before, after) || isLeftOut(before) != isLeftOut(after)) {
            remove(before);
            add(after, position, collection);
        }
    }

    @Override public Object getPosition(Document document) { return null; }
    @Override public boolean canHandle(Document query) { return false; }

    @Override public Iterable<Object> getPositions(Document query) {
        throw new UnsupportedOperationException("the collection plans queries");
    }

    @Override public long getCount() { return entries.sizeAsLong(); }
    @Override public long getDataSize() { return getCount(); }
    @Override public void drop() { multikeyIndexes.remove(mapName); }
}

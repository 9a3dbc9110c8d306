import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.h2.mvstore.Cursor;
import org.h2.mvstore.MVMap;

import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.bson.Document;

/**
 * How one index serves one query: equality (or `$in`) on its leading fields, then a range on the next one, and
 * the order of the remaining fields if it matches the requested order. The plan yields a superset of the result,
 * so the caller must filter it.
 */
final class QueryPlan {

    interface Source {
        List<IndexKey> getKeys();

        boolean isUnique();

        /** True if a field contains an array. A document then has several entries, and only equality can be served. */
        boolean isMultikey();

        /** True for a sparse index. A query for all documents, or for those without the fields, must not use it. */
        boolean omitsDocuments();

        MVMap<Object[], ?> map();
    }

    private static final int ALTERNATIVES_MAX = 1000;

    private final Source source;
    private final List<IndexKey> fields;
    private final Condition[] conditions;
    private final List<List<Object>> prefixes = new ArrayList<>();
    private int fixed;
    private Condition range;
    private boolean sorted;
    private boolean reversed;

    private QueryPlan(Source source, Map<String, Condition> byField) {
        this.source = source;
        this.fields = new ArrayList<>(source.getKeys());
        this.conditions = fields.stream().map(field -> byField.get(field.getKey())).toArray(Condition[]::new);
        prefixes.add(List.of());
    }

    /** Returns the best plan for the query, or null if it needs a scan of all documents. */
    static QueryPlan choose(Document query, Document orderBy, List<Source> sources) {
        Map<String, Condition> byField = Condition.parse(query);
        QueryPlan best = null;
        for (Source source : sources) {
            QueryPlan plan = new QueryPlan(source, byField);
            if (source.isMultikey() && !plan.asksForElements()) {
                continue;
            }
            plan.fixPrefix();
            plan.serveOrder(orderBy);
            if (plan.isUseful(orderBy) && (best == null || plan.score() > best.score())) {
                best = plan;
            }
        }
        return best;
    }

    private void fixPrefix() {
        while (fixed < conditions.length && conditions[fixed] != null && conditions[fixed].isPoint()) {
            List<Object> points = conditions[fixed].points();
            if (prefixes.size() * points.size() > ALTERNATIVES_MAX) {
                break;
            }
            List<List<Object>> longer = new ArrayList<>();
            for (List<Object> prefix : prefixes) {
                for (Object point : points) {
                    List<Object> next = new ArrayList<>(prefix);
                    next.add(point);
                    longer.add(next);
                }
            }
            prefixes.clear();
            prefixes.addAll(longer);
            fixed++;
        }
        if (fixed < conditions.length && conditions[fixed] != null && conditions[fixed].isRange()) {
            range = conditions[fixed];
        }
    }

    /** Returns true if the query compares whole elements. The index cannot find fields inside array elements. */
    private boolean asksForElements() {
        return conditions.length == 1 && !fields.get(0).getKey().contains(".") && conditions[0] != null && conditions[0].isPoint()
            && conditions[0].excludesNull();
    }

    private boolean isWhole() { return fixed == conditions.length && source.isUnique(); }

    private void serveOrder(Document orderBy) {
        if (orderBy == null || orderBy.isEmpty()) {
            sorted = true;
            return;
        }
        if (prefixes.size() != 1 || source.isMultikey()) {
            return;
        }
        if (isWhole()) {
            sorted = true;
            return;
        }
        Set<String> constant = new LinkedHashSet<>();
        fields.subList(0, fixed).forEach(field -> constant.add(field.getKey()));
        List<IndexKey> rest = new ArrayList<>(fields.subList(fixed, fields.size()));
        if (!source.isUnique()) {
            rest.add(new IndexKey("_id", true));
        }
        int used = 0;
        for (Map.Entry<String, Object> entry : orderBy.entrySet()) {
            if (constant.contains(entry.getKey())) {
                continue;
            }
            if (used == rest.size() || !rest.get(used).getKey().equals(entry.getKey())) {
                return;
            }
            boolean backwards = rest.get(used).isAscending() != ((Number) entry.getValue()).intValue() > 0;
            if (used > 0 && backwards != reversed) {
                return;
            }
            reversed = backwards;
            used++;
        }
        sorted = true;
    }

    private boolean isUseful(Document orderBy) {
        boolean narrows = fixed > 0 || range != null;
        if (source.omitsDocuments()) {
            return narrows && conditions[0].excludesNull();
        }
        return narrows || sorted && orderBy != null && !orderBy.isEmpty();
    }

    private int score() { return (isWhole() ? 1000 : 0) + 10 * fixed + (sorted ? 6 : 0) + (range != null ? 3 : 0); }

    boolean isSorted() { return sorted; }

    Stream<Object> values() {
        Stream<Object> found = prefixes.stream().flatMap(this::values);
        if (!source.isMultikey()) {
            return found;
        }
        Set<Object> seen = new HashSet<>();
        return found.filter(position -> seen.add(Arrays.asList((Object[]) position)));
    }

    private Stream<Object> values(List<Object> prefix) {
        if (isWhole()) {
            return Stream.ofNullable(source.map().get(prefix.toArray()));
        }
        Object[] first = bound(prefix, true);
        Object[] last = bound(prefix, false);
        return stream(source.map(), reversed ? last : first, reversed ? first : last);
    }

    private Object[] bound(List<Object> prefix, boolean atStart) {
        List<Object> key = new ArrayList<>(prefix);
        boolean inclusive = true;
        if (range != null) {
            boolean low = fields.get(fixed).isAscending() == atStart;
            if (low ? range.hasLow() : range.hasHigh()) {
                key.add(low ? range.low() : range.high());
                inclusive = low ? range.isLowInclusive() : range.isHighInclusive();
            }
        }
        key.add(atStart == inclusive ? KeyType.Bound.BEFORE : KeyType.Bound.AFTER);
        return key.toArray();
    }

    private <V> Stream<Object> stream(MVMap<Object[], V> map, Object[] from, Object[] to) {
        Cursor<Object[], V> cursor = map.cursor(from, to, reversed);
        Iterator<Object> values = new Iterator<>() {
            @Override public boolean hasNext() {
                return cursor.hasNext();
            }

            @Override public Object next() {
                cursor.next();
                return cursor.getValue();
            }
        };
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(values, Spliterator.ORDERED), false);
    }

    @Override public String toString() { return source + " " + Arrays.toString(conditions); }
}

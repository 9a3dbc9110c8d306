import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.backend.ValueComparator;
import de.bwaldvogel.mongo.bson.BsonRegularExpression;
import de.bwaldvogel.mongo.bson.Document;

/** The part of a query on one field that an index can use: a set of values, or a range. */
final class Condition {

    private List<Object> points;
    private Object low;
    private Object high;
    private boolean lowInclusive;
    private boolean highInclusive;

    /** Returns the usable conditions of a query by field. The filter evaluates `$or` and the like. */
    static Map<String, Condition> parse(Document query) {
        Map<String, Condition> byField = new LinkedHashMap<>();
        collect(query, byField);
        return byField;
    }

    private static void collect(Document query, Map<String, Condition> byField) {
        for (Map.Entry<String, Object> entry : query.entrySet()) {
            String field = entry.getKey();
            if (field.equals("$and") && entry.getValue() instanceof Collection) {
                for (Object part : (Collection<?>) entry.getValue()) {
                    collect((Document) part, byField);
                }
            } else if (!field.startsWith("$")) {
                byField.computeIfAbsent(field, key -> new Condition()).add(entry.getValue());
            }
        }
    }

    private void add(Object value) {
        if (BsonRegularExpression.isRegularExpression(value)) {
            return;
        }
        if (value instanceof Document && isExpression((Document) value)) {
            ((Document) value).forEach(this::addOperator);
        } else if (!(value instanceof Collection)) {
            addPoints(List.of(Missing.ofNullable(value)));
        }
    }

    private static boolean isExpression(Document value) {
        return !value.isEmpty() && value.keySet().iterator().next().startsWith("$");
    }

    private void addOperator(String operator, Object operand) {
        switch (operator) {
            case "$eq":
                if (!(operand instanceof Collection) && !BsonRegularExpression.isRegularExpression(operand)) {
                    addPoints(List.of(Missing.ofNullable(operand)));
                }
                break;
            case "$in":
                addPoints((Collection<?>) operand);
                break;
            case "$gt":
            case "$gte":
                if (isOrdered(operand) && low == null) {
                    low = operand;
                    lowInclusive = operator.equals("$gte");
                }
                break;
            case "$lt":
            case "$lte":
                if (isOrdered(operand) && high == null) {
                    high = operand;
                    highInclusive = operator.equals("$lte");
                }
                break;
            default:
                break;
        }
    }

    private static boolean isOrdered(Object operand) {
        return !Missing.isNullOrMissing(operand) && !(operand instanceof Collection);
    }

    /** Sorts the values and removes duplicates. Keeps only the first list of a field; the filter checks the others. */
    private void addPoints(Collection<?> values) {
        if (points != null) {
            return;
        }
        TreeSet<Object> distinct = new TreeSet<>(ValueComparator.asc());
        for (Object value : values) {
            if (value instanceof Collection || BsonRegularExpression.isRegularExpression(value)) {
                return;
            }
            distinct.add(Missing.ofNullable(value));
        }
        points = new ArrayList<>(distinct);
    }

    boolean isPoint() { return points != null; }

    List<Object> points() { return points; }

    boolean isRange() { return hasLow() || hasHigh(); }

    boolean excludesNull() { return isPoint() ? points.stream().noneMatch(Missing::isNullOrMissing) : isRange(); }

    boolean hasLow() { return low != null; }

    boolean hasHigh() { return high != null; }

    Object low() { return low; }

    Object high() { return high; }

    boolean isLowInclusive() { return lowInclusive; }

    boolean isHighInclusive() { return highInclusive; }
}

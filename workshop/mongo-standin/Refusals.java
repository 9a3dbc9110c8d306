import java.util.Collection;
import java.util.List;
import java.util.Map;

import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.MongoServerError;

/**
 * Refuses commands that this server would accept, but that MongoDB 4.4, our oldest supported version, refuses or stores
 * differently. Without this, tests could pass with commands that fail in production.
 */
final class Refusals {

    /** MongoDB's own limit is 180. */
    private static final int DEPTH_MAX = 100;

    private Refusals() {
    }

    static void check(Document command) {
        switch (command.keySet().iterator().next()) {
            case "insert":
                documents(command, "documents").forEach(document -> checkStored(document, 0));
                break;
            case "update":
                documents(command, "updates").forEach(update -> checkUpdate(update.get("u")));
                break;
            case "findAndModify":
                checkUpdate(command.get("update"));
                break;
            case "createIndexes":
                documents(command, "indexes").forEach(Refusals::checkIndex);
                break;
            default:
        }
        if (command.containsKey("let")) {
            throw new MongoServerError(40415, "Location40415", "'let' is an unknown field");
        }
    }

    @SuppressWarnings("unchecked")
    private static List<Document> documents(Document command, String field) {
        return (List<Document>) command.getOrDefault(field, List.of());
    }

    private static void checkUpdate(Object update) {
        if (!(update instanceof Document)) {
            return;
        }
        Document changes = (Document) update;
        if (changes.keySet().stream().noneMatch(name -> name.startsWith("$"))) {
            checkStored(changes, 0);
            return;
        }
        changes.forEach((operator, fields) -> {
            if (!(fields instanceof Document)) {
                return;
            }
            if (((Document) fields).isEmpty()) {
                throw new MongoServerError(9, "FailedToParse", "'" + operator
                    + "' is empty. You must specify a field like so: {" + operator + ": {<field>: ...}}");
            }
            if (operator.equals("$set") || operator.equals("$setOnInsert")) {
                ((Document) fields).values().forEach(value -> checkStored(value, 1));
            }
        });
    }

    /** MongoDB can store a field whose name contains a dot, but cannot query or update it. */
    private static void checkStored(Object value, int depth) {
        if (depth > DEPTH_MAX) {
            throw new MongoServerError(15, "Overflow", "more than " + DEPTH_MAX + " levels of nesting");
        }
        if (value instanceof Collection) {
            ((Collection<?>) value).forEach(member -> checkStored(member, depth + 1));
        }
        if (value instanceof Document) {
            for (Map.Entry<String, Object> field : ((Document) value).entrySet()) {
                String name = field.getKey();
                if (name.startsWith("$") || name.contains(".") || name.equals("__proto__")) {
                    throw new MongoServerError(52, "DollarPrefixedFieldName",
                        "The field name '" + name + "' is not valid for storage.");
                }
                checkStored(field.getValue(), depth + 1);
            }
        }
    }

    /** This server would ignore these options and build a different index. */
    private static void checkIndex(Document index) {
        for (String option : List.of("partialFilterExpression", "collation", "wildcardProjection", "hidden")) {
            if (index.containsKey(option)) {
                throw new MongoServerError(67, "CannotCreateIndex", "this server would ignore " + option);
            }
        }
    }
}

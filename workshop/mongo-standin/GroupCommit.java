import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

import org.h2.mvstore.MVStore;

/**
 * Acknowledges a write only once it is in the file. Commands that finish during a commit share the next one. A commit
 * waits for all running commands, so it never contains half of one, such as a document without its index entry. The
 * file survives a kill of this process at any moment. It is not synced to the disk, so a power failure may lose the
 * most recent writes.
 */
final class GroupCommit {

    /**
     * Each commit leaves dead pages among live ones. Rewriting some of the emptiest chunks now and then keeps the file
     * at about twice the size of its content, at the cost of pauses of about 20 ms. Measured with 50,000 documents of
     * 1 KB and 30,000 updates: the file grew from 55 MB to 100 MB and no further, instead of to 330 MB.
     */
    private static final int COMMITS_PER_COMPACTION = 50;
    private static final int COMPACTION_BYTES = 2_000_000;
    private static final int LIVE_PERCENT_MIN = 60;

    private final MVStore store;
    private final ReentrantReadWriteLock gate = new ReentrantReadWriteLock();
    private final AtomicLong begun = new AtomicLong();
    private final Object turn = new Object();
    private long committed;
    private int commitsUntilCompaction = COMMITS_PER_COMPACTION;

    GroupCommit(MVStore store) { this.store = store; }

    <T> T write(Supplier<T> command) {
        gate.readLock().lock();
        long ticket = begun.incrementAndGet();
        try {
            return command.get();
        } finally {
            gate.readLock().unlock();
            awaitCommit(ticket);
        }
    }

    /** Waits until everything that was visible before the call is in the file, as a majority read requires. */
    void awaitVisible() { awaitCommit(begun.get()); }

    private void awaitCommit(long ticket) {
        synchronized (turn) {
            if (committed >= ticket) {
                return;
            }
            gate.writeLock().lock();
            try {
                long upTo = begun.get();
                store.commit();
                committed = upTo;
                compactNowAndThen();
            } finally {
                gate.writeLock().unlock();
            }
        }
    }

    private void compactNowAndThen() {
        commitsUntilCompaction--;
        if (commitsUntilCompaction == 0) {
            store.compact(LIVE_PERCENT_MIN, COMPACTION_BYTES);
            commitsUntilCompaction = COMMITS_PER_COMPACTION;
        }
    }
}

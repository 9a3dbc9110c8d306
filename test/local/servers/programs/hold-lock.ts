import { lockDataDir } from '../../../../src/local/data-dir.ts';

/** Locks the data directory of its first argument, prints that it has, and holds the lock until it is killed. */
await lockDataDir(process.argv[2] ?? '');
process.stdout.write('locked\n');
setInterval(() => undefined, 1_000);

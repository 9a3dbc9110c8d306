import { lockDataDir } from '../../../../src/local/data-dir.ts';

/** Takes the data directory of its first argument, says so, and keeps it until it is killed. */
await lockDataDir(process.argv[2] ?? '');
process.stdout.write('locked\n');
setInterval(() => undefined, 1_000);

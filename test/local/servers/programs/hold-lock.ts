import { lockDataDir } from '../../../../src/local/data-dir.ts';

await lockDataDir(process.argv[2] ?? '');
process.stdout.write('locked\n');
setInterval(() => undefined, 1_000);

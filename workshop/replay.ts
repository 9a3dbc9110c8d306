import { readReplayFile, replayFile, silenceTemporal } from './replay/replay-file.ts';

/** `npm run replay -- FILE …`: today's code over records that `tasks export` wrote. Ends with 1 where it does otherwise. */

silenceTemporal();
const files = process.argv.slice(2);
if (files.length === 0)
  process.stderr.write('Usage: npm run replay -- FILE …, each written by `tasks export`.\n');
let failed = files.length === 0;
for (const file of files) {
  const { lines, same } = await replayFile(await readReplayFile(file));
  failed ||= !same;
  process.stdout.write(`${[file, ...lines.map((line) => `  ${line}`)].join('\n')}\n`);
}
process.exit(failed ? 1 : 0);

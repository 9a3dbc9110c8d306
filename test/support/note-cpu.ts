import { readFileSync } from 'node:fs';
import { afterAll } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    cpuSeconds?: number;
  }
}

const before = cpuSeconds();
// oxlint-disable-next-line no-empty-pattern -- vitest takes the fixtures that a hook needs from this pattern
afterAll(({}, { file }) => {
  file.meta.cpuSeconds = cpuSeconds() - before;
});

/**
 * Returns the CPU time of this process in seconds. On Linux, it includes children that have exited, and the four fields
 * are in hundredths of a second.
 */
function cpuSeconds(): number {
  if (process.platform !== 'linux') return process.cpuUsage().user / 1e6;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15);
  return fields.reduce((sum, field) => sum + Number(field), 0) / 100;
}

import { statSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

const testDir = fileURLToPath(new URL('..', import.meta.url));
/**
 * Folders, and a file, of which a line takes longer than one of others: they wait for whole gateways, and for what those
 * wait for; or send the same requests a byte at a time.
 */
const waiting: ReadonlySet<string> = new Set([
  'capacity',
  'event-loop.test.ts',
  'faults',
  'life',
  'local',
  'workshop',
]);
const factor = 6;

/**
 * What takes longest begins first, as far as a file shows it: nothing long is left for the end, and waited for alone.
 * Within a project: a process keeps what it has loaded for the next file of the same one.
 */
export class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const weights = new Map(files.map((file) => [file, weightOf(file)]));
    const weightOfKnown = (file: TestSpecification): number => weights.get(file) ?? 0;
    const inOrder = files.toSorted(
      (a, b) => a.project.name.localeCompare(b.project.name) || weightOfKnown(b) - weightOfKnown(a),
    );
    return Promise.resolve(inOrder);
  }
}

function weightOf({ moduleId }: TestSpecification): number {
  const isLong = relative(testDir, moduleId)
    .split(sep)
    .some((part) => waiting.has(part));
  return statSync(moduleId).size * (isLong ? factor : 1);
}

import { statSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const testDir = fileURLToPath(new URL('..', import.meta.url));
const waiting: ReadonlySet<string> = new Set([
  'capacity',
  'clients',
  'contract',
  'control',
  'event-loop.test.ts',
  'faults',
  'life',
  'local',
  'package.test.ts',
  'pages',
  'workflows',
]);

/**
 * Files that wait alternate with files that compute, so that the cores are neither idle nor overloaded. The largest
 * files of each kind come first, so that no long file is left for the end. The `pure` project comes last and fills the
 * time while the last server tests are waiting. Each process serves a single project.
 */
export class MixedOrder extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ofProject = (name: string) => files.filter(({ project }) => project.name === name);
    const names = new Set(files.map(({ project }) => project.name));
    const inOrder = [...names].toSorted().toReversed();
    return Promise.resolve(inOrder.flatMap((name) => mixed(ofProject(name), waits, sizeOf)));
  }
}

export function mixed<Item>(
  items: readonly Item[],
  isOfFirstKind: (item: Item) => boolean,
  size: (item: Item) => number,
): Item[] {
  const placed = [true, false].flatMap((kind) => {
    const ofKind = items.filter((item) => isOfFirstKind(item) === kind).toSorted((a, b) => size(b) - size(a));
    return ofKind.map((item, index) => ({ item, share: index / ofKind.length }));
  });
  return placed.toSorted((a, b) => a.share - b.share).map(({ item }) => item);
}

function waits({ moduleId }: TestSpecification): boolean {
  return relative(testDir, moduleId)
    .split(sep)
    .some((part) => waiting.has(part));
}

function sizeOf({ moduleId }: TestSpecification): number {
  return statSync(moduleId).size;
}

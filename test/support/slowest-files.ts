import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const shown = 10;

// oxlint-disable-next-line import/no-default-export -- vitest loads reporters by their default export
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const most = (of: (file: TestModule) => number) =>
      modules
        .toSorted((a, b) => of(b) - of(a))
        .slice(0, shown)
        .map((file) => `  ${describe(file)}\n`)
        .join('');
    const all = modules.reduce((sum, file) => sum + cpuOf(file), 0);
    process.stdout.write(
      `Slowest files:\n${most((file) => partsOf(file).total)}` +
        `Most CPU, of ${Math.round(all)} s without the servers of the run:\n${most(cpuOf)}`,
    );
  }
}

const cpuOf = (file: TestModule): number => file.meta().cpuSeconds ?? 0;

function partsOf(file: TestModule) {
  const { collectDuration, setupDuration, prepareDuration, duration } = file.diagnostic();
  const tests = [...file.children.allTests()].map((test) => ({
    name: test.fullName,
    ms: test.diagnostic()?.duration ?? 0,
  }));
  const inTests = tests.reduce((sum, { ms }) => sum + ms, 0);
  const loading = collectDuration + setupDuration + prepareDuration;
  return { tests, total: loading + duration, loading, hooks: Math.max(0, duration - inTests) };
}

function describe(file: TestModule): string {
  const { tests, total, loading, hooks } = partsOf(file);
  const [longest] = tests.toSorted((a, b) => b.ms - a.ms);
  const parts = [
    { what: 'to load', ms: loading },
    { what: 'in hooks', ms: hooks },
    { what: `in “${longest?.name ?? ''}”, one of ${tests.length} tests`, ms: longest?.ms ?? 0 },
  ].toSorted((a, b) => b.ms - a.ms);
  const [reason] = parts;
  const path = relative(process.cwd(), file.moduleId);
  return `${inSeconds(total)}, CPU ${cpuOf(file).toFixed(1)} s, ${path}: ${inSeconds(reason?.ms ?? 0)} ${reason?.what ?? ''}`;
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readRepositoryFile } from './compose-file.ts';

/** Runs the last step of the workflow that compares vendors' SDKs, with scripts in place of npm and gh. */

const { jobs } = z
  .object({
    jobs: z.object({ compare: z.object({ steps: z.array(z.object({ run: z.string().optional() })) }) }),
  })
  .parse(parse(readRepositoryFile('.github/workflows/vendor-facts.yml')));
const script = jobs.compare.steps.at(-1)?.run ?? '';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mediary-vendor-facts-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function program(name: string, text: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, name), 0o755);
}

async function runStep({ npm, open = '' }: { readonly npm: string; readonly open?: string }) {
  program('npm', npm);
  program('gh', `case "$*" in "issue list"*) printf '%s' "${open}";; *) echo "$*" >>calls;; esac`);
  const env = { PATH: `${folder}${delimiter}${process.env['PATH']}` };
  const status: unknown = await promisify(execFile)('bash', ['-e', '-c', script], { cwd: folder, env }).then(
    () => 0,
    (error: unknown) => z.object({ code: z.number() }).parse(error).code,
  );
  const calls = join(folder, 'calls');
  return [status, existsSync(calls) ? readFileSync(calls, 'utf8').trim() : ''];
}

it('opens an issue with the differences, or updates the open one', async () => {
  const npm = '[ "$*" = "run --silent vendor-sdks -- --newest" ] && echo "- a difference"; exit 1';
  const title = 'The newest SDKs of vendors differ from our tables of facts';
  expect(await runStep({ npm })).toEqual([0, `issue create --title ${title} --body-file differences.md`]);
  expect(readFileSync(join(folder, 'differences.md'), 'utf8')).toBe('- a difference\n');
  rmSync(join(folder, 'calls'));
  expect(await runStep({ npm, open: '7' })).toEqual([0, 'issue edit 7 --body-file differences.md']);
});

it('opens no issue without a difference, and fails if nothing could be compared', async () => {
  expect(await runStep({ npm: 'exit 0' })).toEqual([0, '']);
  expect(await runStep({ npm: 'echo "npm: no registry" >&2; exit 1' })).toEqual([1, '']);
});

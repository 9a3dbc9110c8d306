import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openImageWorkspaces } from '../../src/images/workspace.ts';
import { runProgram } from '../local/servers/programs/run-program.ts';

const program = new URL('open-workspace.ts', import.meta.url);

async function scratch(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'workspaces-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  return parent;
}

it('files of a killed process are removed by the next one, but not those of a running one', async () => {
  const parent = await scratch();
  const [killed, living] = await Promise.all([runProgram(program, parent), runProgram(program, parent)]);
  await killed.kill();
  const own = await openImageWorkspaces(Date.now, parent);
  expect((await readdir(parent)).toSorted()).toEqual(
    [living.line, own.directory].map((directory) => basename(directory)).toSorted(),
  );
  const [workspace = ''] = await readdir(living.line);
  expect(await readdir(join(living.line, workspace))).toEqual(['1']);
  expect((await stat(own.directory)).mode & 0o077).toBe(0);
  await own.close();
  expect(await readdir(parent)).toEqual([basename(living.line)]);
});

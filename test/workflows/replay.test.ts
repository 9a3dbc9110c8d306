import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.ts';

/**
 * These histories come from tasks on real gateways, so a change that would break tasks in flight fails here. After an
 * intended change, record the histories again with record-histories.ts. Tasks that began before the change then need a
 * separate worker (docs/deployment.md, *Upgrades*).
 */
const historiesDir = fileURLToPath(new URL('histories', import.meta.url));

describe('saved histories', async () => {
  const saved = await readdir(historiesDir).catch(() => []);
  let workflowBundle: Awaited<ReturnType<typeof bundleWorkflows>>;
  beforeAll(async () => {
    workflowBundle = await bundleWorkflows();
  });

  it('exist', () => expect(saved.length).toBeGreaterThanOrEqual(9));

  it.each(saved)('%s replays', async (file) => {
    const history: unknown = JSON.parse(await readFile(`${historiesDir}/${file}`, 'utf8'));
    await Worker.runReplayHistory({ workflowBundle }, history, file);
  });

  it('of another workflow do not replay: the check can fail', async () => {
    const text = await readFile(`${historiesDir}/${saved[0]}`, 'utf8');
    const changed: unknown = JSON.parse(text.replaceAll('"submit"', '"somethingElse"'));
    await expect(Worker.runReplayHistory({ workflowBundle }, changed, 'changed')).rejects.toThrow(
      /[Nn]ondeterminism/,
    );
  });
});

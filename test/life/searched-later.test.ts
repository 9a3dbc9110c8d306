import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { actOn } from '../support/client.ts';
import { startGateway } from '../support/gateway.ts';
import { waitUntil } from '../support/processes.ts';

const small = readFileSync(new URL('../providers/vendor-files/small.yaml', import.meta.url), 'utf8');

function withoutFind(): string {
  const file = parse(small);
  delete file.videos.find;
  for (const fixture of file.fixtures)
    fixture.steps = fixture.steps.filter((step: { do: string }) => step.do !== 'find');
  return stringify(file);
}

async function startForgetful(): Promise<string> {
  const jobs: { id: string; note: string }[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://small');
    if (request.method === 'GET') {
      const found = jobs.filter(({ note }) => note === url.searchParams.get('note'));
      return void response.end(JSON.stringify(url.search === '' ? { state: 'waiting' } : { jobs: found }));
    }
    let text = '';
    request.on('data', (part) => (text += part));
    request.on('end', () => {
      jobs.push({ id: `job-${jobs.length + 1}`, note: JSON.parse(text).note });
      request.socket.destroy();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

it('a lost job can be searched for as soon as its vendor file describes a search', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'mediary-searched-later-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'small.yaml');
  writeFileSync(file, withoutFind());
  const channel = {
    id: 'main',
    provider: 'small',
    base_url: await startForgetful(),
    private_networks: ['127.0.0.0/8'],
    credentials: [{ id: 'a', api_key: 'x' }],
    models: { boats: { upstream: 'm1' } },
  };
  const price = { lines: [{ measure: 'second', price: '0.10' }] };
  const model = { id: 'boats', kind: 'video', durations: { min: 5, max: 10, default: 5 }, price };
  const yaml = stringify({ currency: 'USD', vendors: [file], channels: [channel], models: [model] });
  const gateway = await startGateway({ yaml });
  onTestFinished(() => gateway.stop());
  const account = await gateway.account();
  const { body } = await account.call('POST', '/v1/videos/generations', {
    body: { model: 'boats', prompt: 'a boat', duration: 5 },
  });
  const shown = async () => (await gateway.admin('GET', `/admin/v1/tasks/${body.id}`)).body;
  const advised = async () => (await shown()).situation.actions.map(({ name }: { name: string }) => name);
  await waitUntil('an operator is asked', async () => (await shown()).situation.name === 'asking');
  const cannot = /The upstream cannot be searched for the job\. Look for it in the upstream’s console/;
  expect((await shown()).situation.advice).toMatch(cannot);
  expect(await advised()).not.toContain('retry_now');
  const retry = { action: 'retry_now', reason: 'it may be found' };
  const refused = await gateway.admin('POST', `/tasks/${body.id}/actions`, retry);
  expect([refused.status, refused.body.error.message]).toEqual([409, expect.stringMatching(cannot)]);

  writeFileSync(file, small);
  expect((await gateway.admin('POST', '/config/reload')).status).toBe(200);
  expect((await shown()).situation.advice).toMatch(/Use `retry_now`/);
  expect((await advised())[0]).toBe('retry_now');
  expect((await actOn(gateway.admin, body.id, retry)).status).toBe(200);
  await waitUntil('the job is found', async () => (await shown()).upstream_id === 'job-1');
});

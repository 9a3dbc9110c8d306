import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { beforeAll, expect, it } from 'vitest';
import { createDirectoryStorage } from '../../../src/results/directory-storage.ts';
import { createMediaLinks } from '../../../src/results/media-links.ts';
import { useHttpWorld, type Server } from '../../support/http-world.ts';

const world = useHttpWorld('route_preflight_media');
let node: Server;

beforeAll(async () => {
  const now = Date.now;
  const links = createMediaLinks({
    key: randomBytes(32),
    publicUrl: '',
    ttlSeconds: 3_600,
    retentionSeconds: 86_400,
    now,
  });
  node = await world.startNode({ keptResults: { storage: createDirectoryStorage(tmpdir()), links, now } });
});

it('lets pages of any origin request parts, whether or not there is a file', async () => {
  const answer = await node.call('OPTIONS', `/media/task_${'0'.repeat(22)}/0.mp4`, {
    headers: {
      origin: 'https://page.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'range',
    },
  });
  expect([answer.status, answer.text]).toEqual([204, '']);
  expect(answer.headers).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD',
    'access-control-allow-headers': 'range, if-range, if-none-match',
  });
});

it('no other route has a preflight, because a key does not belong in a page', async () => {
  const answer = await node.call('OPTIONS', '/v1/models');
  expect([answer.status, answer.body.error.code]).toEqual([405, 'method_not_allowed']);
});

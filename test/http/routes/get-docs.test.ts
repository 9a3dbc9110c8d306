import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { createMediaLinks } from '../../../src/results/media-links.ts';
import { anchorsOf } from '../../support/docs-page.ts';
import { useFileWorld } from './file-world.ts';
import type { Server } from '../../support/http-world.ts';

const files = useFileWorld('route_get_docs');
let world: Server;

beforeAll(async () => {
  const { storage } = files;
  const links = createMediaLinks({
    key: randomBytes(32),
    publicUrl: '',
    ttlSeconds: 3_600,
    retentionSeconds: 86_400,
    now: Date.now,
  });
  const { storedFiles } = files.node.deps;
  world = await files.world.startNode({
    ...(storedFiles && { storedFiles }),
    keptResults: { storage, links, now: Date.now },
  });
});

const gzippedBytesMax = 150_000;

const filesIn = (text: string) =>
  [...text.matchAll(/(?:src|href)="([^"#]+\.(?:js|css|svg))"/g)].map(([, path = '']) => path);

it('is a page that loads nothing from elsewhere, and may run only our own code', async () => {
  const page = await world.call('GET', '/docs');
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const policy = String(page.headers['content-security-policy']);
  expect(policy).not.toContain('unsafe');
  expect(policy.split('; ')).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]),
  );
  const files = filesIn(page.text);
  expect(files.length).toBeGreaterThan(5);
  for (const path of files) {
    expect(path).toMatch(/^pages\/[\w-]+\//);
    expect([path, (await world.call('GET', `/${path}`)).status]).toEqual([path, 200]);
  }
  expect(page.text).not.toMatch(/\{\{|\son\w+=|style=/);
});

it('shows every operation of the document', async () => {
  const page = await world.call('GET', '/docs');
  const document = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'));
  const anchors = anchorsOf(page.text);
  const items = Object.values<Record<string, { operationId: string }>>(document.paths);
  const ids = items.flatMap((item) => Object.values(item)).map(({ operationId }) => operationId);
  expect(ids.filter((id) => !/Alias\d*$/.test(id) && !anchors.includes(id))).toEqual([]);
});

it('is sent compressed, with a version, and needs at most 150 KB in total', async () => {
  const left = ['/docs'];
  const sizes = new Map<string, number>();
  for (const path of left) {
    if (sizes.has(path)) continue;
    const { headers, text } = await world.call('GET', path, { headers: { 'accept-encoding': 'gzip' } });
    expect([path, headers['content-encoding']]).toEqual([path, 'gzip']);
    sizes.set(path, Number(headers['content-length']));
    const plain = path === '/docs' || path.endsWith('.js') ? (await world.call('GET', path)).text : text;
    const named = path === '/docs' ? filesIn(plain) : plain.matchAll(/\bfrom ?['"](\.[^'"]+)['"]/g);
    for (const each of named)
      left.push(new URL(typeof each === 'string' ? each : (each[1] ?? ''), `http://x${path}`).pathname);
  }
  expect(sizes.size).toBeGreaterThan(8);
  expect([...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(gzippedBytesMax);
  const { headers } = await world.call('GET', '/docs');
  const again = await world.call('GET', '/docs', { headers: { 'if-none-match': String(headers['etag']) } });
  expect([again.status, again.text]).toEqual([304, '']);
});

it('a page is not sent as one of its files, without its policy', async () => {
  const { status, body } = await world.call('GET', '/pages/any/docs/index.html');
  expect([status, body.error.code]).toEqual([404, 'route_not_found']);
});

import { expect, it } from 'vitest';
import { anchorsOf } from '../../support/docs-page.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_docs');

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

it('shows the operations of this gateway', async () => {
  const [page, document] = await Promise.all([
    world.call('GET', '/docs'),
    world.call('GET', '/openapi.json'),
  ]);
  const anchors = anchorsOf(page.text);
  const items = Object.values<Record<string, { operationId: string }>>(document.body.paths);
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

import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_page_file');

async function firstFile(): Promise<string> {
  const { text } = await world.call('GET', '/console');
  return `/${/src="([^"]+)"/.exec(text)?.[1] ?? ''}`;
}

it('sends every module that a page needs, by relative paths only', async () => {
  const left = [await firstFile()];
  const seen = new Set<string>();
  for (const path of left) {
    if (seen.has(path)) continue;
    seen.add(path);
    const { status, headers, text } = await world.call('GET', path);
    expect([path, status, headers['content-type']]).toEqual([path, 200, 'text/javascript; charset=utf-8']);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['x-content-type-options']).toBe('nosniff');
    const imports = [...text.matchAll(/(?:^|[;}\n])(?:import|export)\b[^'";]*?from ?['"]([^'"]+)['"]/g)];
    for (const [, name = ''] of imports) {
      expect(name).toMatch(/^\.\.?\//);
      left.push(new URL(name, `http://x${path}`).pathname);
    }
  }
  expect([...seen].map((path) => path.replace(/^\/pages\/[\w-]+\//, ''))).toEqual(
    expect.arrayContaining([
      'console/main.js',
      'shared/all.js',
      'vendor/preact.js',
      'vendor/hooks.js',
      'vendor/htm.js',
    ]),
  );
});

it('sends the styles that a page names', async () => {
  const { text } = await world.call('GET', '/console');
  const styles = [...text.matchAll(/href="([^"]+\.css)"/g)].map(([, path = '']) => `/${path}`);
  expect(styles.length).toBeGreaterThan(1);
  for (const path of styles) {
    const { status, headers } = await world.call('GET', path);
    expect([status, headers['content-type']]).toEqual([200, 'text/css; charset=utf-8']);
  }
});

it('is named relative to the page, because a proxy may have put the gateway below a path', async () => {
  for (const page of ['/', '/docs', '/docs/money', '/account', '/console']) {
    const { text } = await world.call('GET', page, { headers: { accept: 'text/html' } });
    const names = [...text.matchAll(/(?:src|href)="([^"#][^"]*)"/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(3);
    expect([page, names.filter((name) => name.startsWith('/'))]).toEqual([page, []]);
    const own = names.filter((each) => !each.startsWith('https:')).map((each) => each.replace(/#.*$/, ''));
    for (const name of new Set(own)) {
      const { pathname } = new URL(name, `http://gateway.example/below${page}`);
      expect([page, name, pathname.startsWith('/below/')]).toEqual([page, name, true]);
      const answer = await world.call('GET', pathname.slice('/below'.length));
      expect([page, name, answer.status]).toEqual([page, name, 200]);
    }
    if (page === '/') continue;
    const { status, headers } = await world.call('GET', `${page}/`);
    expect([status, new URL(String(headers['location']), `http://x${page}/`).pathname]).toEqual([308, page]);
  }
});

it('sends it compressed to clients that accept that, with a version for each encoding', async () => {
  const url = `${world.url}${await firstFile()}`;
  const plain = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
  const packed = await fetch(url, { headers: { 'accept-encoding': 'gzip, br' } });
  const refused = await fetch(url, { headers: { 'accept-encoding': 'gzip;q=0' } });
  expect([plain, packed, refused].map(({ headers }) => headers.get('content-encoding'))).toEqual([
    null,
    'gzip',
    null,
  ]);
  expect(await packed.text()).toBe(await plain.text());
  const [etag, packedEtag] = [plain.headers.get('etag') ?? '', packed.headers.get('etag') ?? ''];
  expect(etag).not.toBe(packedEtag);
  const again = await fetch(url, { headers: { 'accept-encoding': 'identity', 'if-none-match': etag } });
  expect([again.status, await again.text()]).toEqual([304, '']);
});

it('forbids caching a file of another version', async () => {
  const path = (await firstFile()).replace(/^\/pages\/[\w-]+\//, '/pages/another/');
  const { status, headers } = await world.call('GET', path);
  expect([status, headers['cache-control']]).toEqual([200, 'no-cache']);
});

it.each([
  'shared/tsconfig.json',
  'console/..%2F..%2Fapi.ts',
  '..%2Fpages/main.js',
  'vendor/preact.d.ts',
  'console/nothing.js',
])('has nothing else: %s', async (name) => {
  const { status, body } = await world.call('GET', `/pages/any/${name}`);
  expect([status, body.error.code]).toEqual([404, 'route_not_found']);
});

it.each(['/console', '/account'])(
  'is small: %s comes to at most 100 KB, compressed, in a handful of requests',
  async (page) => {
    const left = [page];
    const seen = new Map<string, number>();
    for (const path of left) {
      if (seen.has(path)) continue;
      const bytes = await rawBytes(`${world.url}${path}`);
      seen.set(path, bytes.length);
      const text = gunzipSync(bytes).toString();
      const named = path === page ? /(?:src|href)="([^"]+)"/g : /\bfrom ?['"](\.[^'"]+)['"]/g;
      for (const [, name = ''] of text.matchAll(named)) left.push(new URL(name, `http://x${path}`).pathname);
    }
    expect([...seen.values()].reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(100_000);
    expect(seen.size).toBeLessThan(20);
  },
);

it.each(['1', '9', 'more'])('has the icon of the console with a count: %s', async (count) => {
  const icon = (await firstFile()).replace('main.js', `icon-${count}.svg`);
  const { status, headers, text } = await world.call('GET', icon);
  expect([status, headers['content-type']]).toEqual([200, 'image/svg+xml']);
  expect(text).toContain(`>${count === 'more' ? '+' : count}</text></svg>`);
});

/** Use node:http, because `fetch` would decompress the bytes. */
async function rawBytes(url: string): Promise<Buffer> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    request(url, { headers: { 'accept-encoding': 'gzip' } }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => resolve(Buffer.concat(parts)));
    })
      .on('error', reject)
      .end();
  });
}

import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_index');

it('is JSON that says where everything is', async () => {
  const { status, headers, body } = await world.call('GET', '/');
  expect([status, headers['content-type'], headers['vary']]).toEqual([
    200,
    'application/json; charset=utf-8',
    'accept, accept-encoding',
  ]);
  expect(body).toEqual({
    object: 'index',
    name: 'Mediary',
    documentation: '/docs',
    openapi: '/openapi.json',
    models: '/v1/models',
    account: '/account',
    console: '/console',
  });
  const node = await world.startNode({ operatorAuth: undefined } as object);
  expect((await node.call('GET', '/')).body).not.toHaveProperty('console');
});

it('is a page for browsers, whose links lead somewhere', async () => {
  const browser = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };
  const { status, headers, text } = await world.call('GET', '/', browser);
  expect([status, headers['content-type'], headers['vary']]).toEqual([
    200,
    'text/html; charset=utf-8',
    'accept, accept-encoding',
  ]);
  expect(headers['content-security-policy']).toContain("default-src 'none'");
  const links = [...text.matchAll(/<a href="([^"]+)"/g)].map(([, href = '']) => href);
  expect(links).toEqual(['docs', 'account', 'console']);
  const node = await world.startNode({ operatorAuth: undefined } as object);
  expect((await node.call('GET', '/', browser)).text).not.toContain('href="console"');
  for (const href of links) expect([href, (await world.call('GET', `/${href}`)).status]).toEqual([href, 200]);
});

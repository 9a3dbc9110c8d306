import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_console');

it('is a page that runs and shows only our own content', async () => {
  const page = await world.call('GET', '/console');
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const policy = String(page.headers['content-security-policy']);
  expect(policy.split('; ').toSorted()).toEqual([
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "img-src 'self'",
    "media-src 'self'",
    "require-trusted-types-for 'script'",
    "script-src 'self'",
    "style-src 'self'",
    "trusted-types 'none'",
  ]);
  expect(page.headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
  });
  expect(page.text).not.toMatch(/\{\{|\son\w+=|style=/);
});

it('shows results from the address under which callers reach the gateway', async () => {
  const node = await world.startNode({ publicUrl: 'https://media.example:8443/gateway' });
  const { headers } = await node.call('GET', '/console');
  expect(headers['content-security-policy']).toContain(
    "; img-src 'self' https://media.example:8443; media-src",
  );
});

it('has no answer but a sentence until there is an operator', async () => {
  const node = await world.startNode({ operatorAuth: undefined } as object);
  const { status, body } = await node.call('GET', '/console');
  expect([status, body.error.code, body.error.message]).toEqual([
    404,
    'route_not_found',
    'The console is off because this gateway has no operators. Set ADMIN_TOKEN, and restart the gateway.',
  ]);
});

import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_account_page');

it('is a page that runs only our own code, and shows pictures from data URLs', async () => {
  const { status, headers, text } = await world.call('GET', '/account');
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const policy = String(headers['content-security-policy']).split('; ');
  expect(policy).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self' data:",
      "media-src 'self'",
      "trusted-types 'none'",
    ]),
  );
  expect(text).not.toMatch(/\{\{|\son\w+=|style=/);
});

it('shows results from the address under which callers reach the gateway', async () => {
  const node = await world.startNode({ publicUrl: 'https://media.example:8443/gateway' });
  const { headers } = await node.call('GET', '/account');
  expect(headers['content-security-policy']).toContain("media-src 'self' https://media.example:8443;");
});

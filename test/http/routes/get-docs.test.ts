import { expect, it } from 'vitest';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_docs');

it('is a page that loads nothing from elsewhere, and lets Swagger UI do no more than it needs', async () => {
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
      "img-src 'self' data:",
      "require-trusted-types-for 'script'",
      'trusted-types dompurify default',
    ]),
  );
  const files = [...page.text.matchAll(/(?:src|href)="([^"]+\.\w+)"/g)].map(([, path = '']) => path);
  expect(files.length).toBeGreaterThan(5);
  for (const path of files) {
    expect(path).toMatch(/^pages\/[\w-]+\//);
    expect([path, (await world.call('GET', `/${path}`)).status]).toEqual([path, 200]);
  }
  expect(page.text).not.toMatch(/\{\{|\son\w+=|style=/);
});

it('a page is not sent as one of its files, without its policy', async () => {
  const { status, body } = await world.call('GET', '/pages/any/docs/index.html');
  expect([status, body.error.code]).toEqual([404, 'route_not_found']);
});

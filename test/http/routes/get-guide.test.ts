import { expect, it } from 'vitest';
import { guideNames } from '../../../src/http/pages/guides.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_get_guide');

it.each([...guideNames])('%s is a page without scripts, whose links lead somewhere', async (name) => {
  const { status, headers, text } = await world.call('GET', `/docs/${name}`);
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(headers['content-security-policy']).toContain("trusted-types 'none'");
  expect(text).not.toMatch(/<script|\{\{|\son\w+=|style=/);
  expect(text).toContain(`<a href="${name}" aria-current="page">`);
  const links = [...text.matchAll(/<a [^>]*href="((?!https:)[^"#]+)/g)].map(
    ([, href = '']) => new URL(href, `${world.url}/docs/${name}`).pathname,
  );
  expect(links.length).toBeGreaterThan(5);
  for (const href of new Set(links))
    expect([href, (await world.call('GET', href)).status]).toEqual([href, 200]);
  for (const [, anchor = ''] of text.matchAll(/href="#([^"]+)"/g)) expect(text).toContain(`id="${anchor}"`);
});

it.each(['nothing', 'index', 'guide', 'errors.md', '..%2Fconsole%2Findex'])(
  'there is no other guide: %s',
  async (name) => {
    const { status, body } = await world.call('GET', `/docs/${name}`);
    expect([status, body.error.code]).toEqual([404, 'route_not_found']);
  },
);

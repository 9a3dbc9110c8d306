import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { languageNames } from '../../../src/base/request-code.js';
import { errorTable, taskErrorCodes } from '../../../src/errors/errors.ts';
import { guideNames, renderGuide } from '../../../src/http/pages/guides.ts';
import { groupsOf } from '../../../src/http/reference/document.ts';
import { writeReference } from '../../../src/http/reference/reference.ts';
import { documentText } from '../../../workshop/document.ts';
import { anchorsOf, plainText, programsOn } from '../../support/docs-page.ts';
import { hostileStrings } from '../../support/hostile-strings.ts';

const document = JSON.parse(documentText());
const { contents, reference } = await writeReference(document, 'https://gateway.example');
type Items = Record<string, Record<string, { operationId: string; summary: string }>>;
const operations = Object.entries(document.paths as Items).flatMap(([path, item]) =>
  Object.values(item).map((operation) => ({ path, ...operation })),
);
const isAlias = (id: string) => /Alias\d*$/.test(id);
const anchors = new Set(anchorsOf(reference));

it('has every operation of the document, at an anchor of its name, and every address of it', () => {
  expect(operations.length).toBeGreaterThan(100);
  const own = operations.filter(({ operationId }) => !isAlias(operationId));
  expect(own.filter(({ operationId }) => !anchors.has(operationId))).toEqual([]);
  expect(anchors).toContain('taskEnded');
  for (const { operationId, summary } of own)
    expect(contents).toContain(`<a href="#${operationId}">${summary}</a>`);
  const text = plainText(reference);
  expect(operations.filter(({ path }) => !text.includes(path))).toEqual([]);
  expect(operations.filter(({ operationId }) => isAlias(operationId) && anchors.has(operationId))).toEqual(
    [],
  );
});

it('has every field of every body at an anchor, and none twice', () => {
  const all = anchorsOf(reference);
  expect(all.filter((id, index) => all.indexOf(id) !== index)).toEqual([]);
  const schemas = Object.entries<{ properties?: object }>(document.components.schemas);
  for (const [name, { properties = {} }] of schemas)
    for (const field of Object.keys(properties)) expect(anchors).toContain(`${name}.${field}`);
});

it('has no dead links', () => {
  const own = [...`${contents}${reference}`.matchAll(/href="#([^"]+)"/g)].map(([, anchor = '']) => anchor);
  expect(own.length).toBeGreaterThan(200);
  expect([...new Set(own)].filter((anchor) => !anchors.has(anchor))).toEqual([]);
  const unfolded = [...reference.matchAll(/data-object="([^"]+)"/g)].map(([, name = '']) => name);
  expect([...new Set(unfolded)].filter((name) => !anchors.has(name))).toEqual([]);
  for (const guide of guideNames) {
    const text = readFileSync(new URL(`../../../docs/${guide}.md`, import.meta.url), 'utf8');
    const there = anchorsOf(renderGuide(text));
    const links = `${contents}${reference}`.matchAll(new RegExp(`href="docs/${guide}#([^"]+)"`, 'g'));
    const missing = [...links].map(([, anchor = '']) => anchor).filter((anchor) => !there.includes(anchor));
    expect([guide, missing]).toEqual([guide, []]);
  }
});

it('lists every code of an error where it can be found, at the paragraph that explains it', () => {
  for (const code of [...Object.keys(errorTable), ...taskErrorCodes])
    expect(contents).toContain(`<a href="docs/errors#${code}">${code}</a>`);
});

it('begins each group with its creates', () => {
  const [videos, images] = groupsOf(document);
  expect(videos?.operations[0]).toMatchObject({ id: 'createVideo', aliases: ['/v1/video/generations'] });
  expect(images?.operations.slice(0, 2).map(({ id }) => id)).toEqual(['createImage', 'editImage']);
});

it('shows each operation as a program in every language', () => {
  const programs = programsOn(reference);
  for (const { operationId } of operations.filter((each) => !isAlias(each.operationId)))
    expect([operationId, Object.keys(programs.get(operationId) ?? {})]).toEqual([
      operationId,
      Object.keys(languageNames),
    ]);
});

describe('a hostile document', async () => {
  const [first = '', ...more] = hostileStrings;
  const words = hostileStrings.join(' ');
  const schema = {
    type: 'object' as const,
    description: words,
    properties: { [first]: { type: 'string' as const, enum: [...more], description: words, default: first } },
    examples: [{ [first]: words }],
  };
  const hostile = await writeReference(
    {
      ...document,
      tags: [{ name: first, description: words }],
      components: { schemas: { Hostile: schema } },
      paths: {
        [`/${first}`]: {
          post: {
            operationId: first,
            summary: words,
            description: words,
            tags: [first],
            parameters: [{ name: first, in: 'query', description: words, schema }],
            requestBody: {
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Hostile' } } },
            },
            responses: {
              200: { description: words, content: { [first]: { schema } } },
              400: { description: words },
            },
          },
        },
      },
    },
    'https://gateway.example',
  );

  it('becomes plain text', () => {
    const page = `${hostile.contents}${hostile.reference}`;
    const known =
      /^<\/?(?:a|b|button|code|dd|del|details|div|em|h[1-6]|hr|li|ol|p|pre|section|span|strong|summary|table|tbody|td|th|thead|tr|ul|br|blockquote)(?: (?:id|class|href|role|tabindex|start|aria-label|data-[a-z]+)="[^"<>]*"| open)*\s*\/?>$/;
    const tags = [...page.matchAll(/<[^>]*>/g)].map(([tag]) => tag);
    expect(tags.filter((tag) => !known.test(tag))).toEqual([]);
    const links = [...tags.join('').matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);
    expect(links.filter((href) => !/^(?:#|docs\/|https:\/\/)/.test(href))).toEqual([]);
  });
});

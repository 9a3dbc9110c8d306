import { setImmediate as nextTurn } from 'node:timers/promises';
import { listGuides } from '../pages/guides.ts';
import { nameOf, type OpenApiDocument } from '../openapi-schemas.ts';
import { groupsOf, objectsOf, type Group, type Objects } from './document.ts';
import { isObject, schemaFields } from './fields.ts';
import { html, type Markup } from './markup.ts';
import { codeLink, codesIn, operationSection, type Writing } from './operation.ts';
import { prose } from './prose.ts';

export interface Reference {
  readonly contents: string;
  readonly reference: string;
}

/**
 * Every operation, named schema and field (`VideoRequest.prompt`) has an anchor. `origin` is used for the URLs in
 * examples. Yields to the event loop between groups.
 */
export async function writeReference(document: OpenApiDocument, origin: string): Promise<Reference> {
  await nextTurn();
  const groups = groupsOf(document).filter(({ operations }) => operations.length > 0);
  const objects = objectsOf(document);
  const guides = listGuides();
  const headings = guides.find(({ href }) => href === 'docs/errors')?.headings ?? [];
  const writing: Writing = {
    objects,
    origin,
    homes: new Set(),
    commonCodes: commonCodes(groups),
    explained: new Set(headings.map(({ anchor }) => anchor)),
  };
  const sections: Markup[] = [];
  for (const group of groups) {
    await nextTurn();
    sections.push(groupSection(group, writing));
  }
  await nextTurn();
  return {
    contents: contentsOf(groups, guides).text,
    reference: html`${sections}${errorsSection(writing)}${objectsSection(writing)}`.text,
  };
}

function commonCodes(groups: readonly Group[]): ReadonlySet<string> {
  const called = groups.flatMap(({ operations }) => operations).filter(({ path }) => path.startsWith('/'));
  const sets = called.map(
    ({ answers }) => new Set(answers.flatMap(({ description }) => codesIn(description))),
  );
  return new Set([...(sets[0] ?? [])].filter((code) => sets.every((codes) => codes.has(code))));
}

function anchorOf(name: string): string {
  return `group-${name.toLowerCase().replaceAll(/\W+/g, '-')}`;
}

/** The first two groups are our own API for callers. They are open initially. */
const openGroups = 2;

function contentsOf(groups: readonly Group[], guides: ReturnType<typeof listGuides>): Markup {
  const lists = groups.map(({ name, operations }, index) => {
    const links = operations.map(({ id, summary }) => html`<li><a href="#${id}">${summary}</a></li>`);
    return html`<details${index < openGroups ? html` open` : ''}><summary>${name}</summary><ul>${links}</ul></details>
`;
  });
  const more = guides.map(({ href, title, headings }) => {
    const links = headings.map(
      ({ anchor, title: words }) => html`<li><a href="${href}#${anchor}">${words}</a></li>`,
    );
    return html`<details class="guide-contents" data-guide="${title}">
      <summary>${title}</summary>
      <ul>
        <li><a href="${href}">The whole guide</a></li>
        ${links}
      </ul>
    </details> `;
  });
  return html`<h2>Operations</h2>
    ${lists}
    <h2>More</h2>
    <ul>
      <li><a href="#errors">Common errors</a></li>
      <li><a href="#objects">Objects</a></li>
    </ul>
    <h2>Guides</h2>
    ${more}`;
}

function groupSection({ name, description, operations }: Group, writing: Writing): Markup {
  return html`<section>
    <h2 id="${anchorOf(name)}">${name}</h2>
    ${prose(description)} ${operations.map((operation) => operationSection(operation, writing))}
  </section> `;
}

function errorsSection({ commonCodes: codes, explained, objects }: Writing): Markup {
  const error = objects.names.includes('Error') ? html` Its body is an <a href="#Error">Error</a>.` : '';
  return html`<section id="errors">
    <h2>Common errors</h2>
    <p>An error has a status and a code. Programs should branch on the code.${error}</p>
    <p>Any request can fail with ${[...codes].map((code) => codeLink(code, explained))}.</p>
  </section> `;
}

function objectsSection({ objects, homes }: Writing): Markup {
  const place = { objects, isSent: false };
  const shown = objects.names
    .filter((name) => !homes.has(name))
    .map((name) => ({ name, schema: { $ref: `#/components/schemas/${name}` } }))
    .filter(({ name, schema }) => isObject(schema, { ...place, id: name }));
  return html`<section id="objects">
    <h2>Objects</h2>
    <p>The objects that requests and responses contain.</p>
    ${shown.map(({ name, schema }) => objectDetails(name, schema, objects))}
  </section> `;
}

function objectDetails(name: string, schema: { $ref: string }, objects: Objects): Markup {
  const resolved = objects.resolve(schema);
  const isSent = /(?:Request|Form|Input)$/.test(nameOf(schema) ?? '');
  return html`<details id="${name}">
    <summary>${name}</summary>
    ${prose(resolved.description)}${schemaFields(resolved, { objects, id: name, isSent })}
  </details> `;
}

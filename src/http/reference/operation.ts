import { languageNames } from '../../base/request-code.js';
import type { Content, Objects, Operation } from './document.ts';
import { nameOf, type AnySchema } from '../openapi-schemas.ts';
import { fieldList, isObject, schemaFields, typeOf, unfoldable, type Place } from './fields.ts';
import { html, nothing, type Markup } from './markup.ts';
import { prose } from './prose.ts';
import { answerSample, languages, programsOf, requestOf, type TriedRequest } from './request.ts';

export interface Writing {
  readonly objects: Objects;
  readonly origin: string;
  readonly homes: Set<string>;
  readonly commonCodes: ReadonlySet<string>;
  readonly explained: ReadonlySet<string>;
}

export function operationSection(operation: Operation, writing: Writing): Markup {
  const { id, summary, description, method, path } = operation;
  const request = requestOf(operation, writing.objects);
  return html`<section class="operation" id="${id}" data-request="${JSON.stringify(request)}">
    <div>
      <h3><a href="#${id}">${summary}</a></h3>
      <p class="address"><span class="method">${method}</span> <code>${path}</code></p>
      ${aliases(operation)}${prose(description === '' ? undefined : description)}
      ${need(operation)}${parameters(operation, writing)}${body(operation, writing)}${answers(operation, writing)}${errors(operation, writing)}
    </div>
    ${path.startsWith('/') ? examples(operation, request, writing) : nothing}
  </section> `;
}

function aliases({ aliases: others }: Operation): Markup {
  if (others.length === 0) return nothing;
  const list = others.map((path) => html`<code>${path}</code> `);
  return html`<details>
    <summary>Also at ${others.length === 1 ? 'another address' : `${others.length} other addresses`}</summary>
    ${list}
  </details>`;
}

const credentials: Readonly<Record<string, readonly [who: string, what: string]>> = {
  apiKey: ['an API key', 'with the scope'],
  adminToken: ['an operator’s token', 'with the role'],
};

function need({ security }: Operation): Markup {
  if (security.length === 0) return nothing;
  const [who = '', what = ''] = credentials[security[0]?.scheme ?? ''] ?? [];
  const names = security.flatMap((each) => each.names).map((name) => html`<code>${name}</code>`);
  const list = names.map((name, index) => (index === 0 ? name : html` or ${name}`));
  return html`<p class="soft">Needs ${who}${names.length === 0 ? nothing : html` ${what} ${list}`}.</p>`;
}

const parameterTitles = { path: 'In the path', query: 'Query', header: 'Headers' } as const;

function parameters({ id, parameters: all }: Operation, { objects }: Writing): Markup {
  const place = { objects, id, isSent: true };
  return html`${Object.entries(parameterTitles).map(([where, title]) => {
    const fields = all
      .filter((each) => each.in === where)
      .map(({ name, schema = {}, required = false, description }) => ({
        name,
        schema,
        isRequired: required,
        description,
      }));
    return fields.length === 0
      ? nothing
      : html`<h4>${title}</h4>
          ${fieldList(fields, place)}`;
  })}`;
}

function body({ id, bodies }: Operation, writing: Writing): Markup {
  return html`${bodies.map(({ mediaType, schema = {} }) => {
    const isJson = mediaType === 'application/json';
    const title = isJson ? 'Body' : `Body, as ${mediaType}`;
    const place = { objects: writing.objects, id: `${id}.${isJson ? 'body' : 'form'}`, isSent: true };
    return html`<h4>${title}</h4>
      ${shown(schema, place, writing)}`;
  })}`;
}

function shown(schema: AnySchema, place: Place, { objects, homes }: Writing): Markup {
  const name = nameOf(schema);
  if (name === undefined) return schemaFields(objects.resolve(schema), place);
  if (homes.has(name)) return unfoldable(name);
  homes.add(name);
  return html`<div id="${name}">${schemaFields(objects.resolve(schema), { ...place, id: name })}</div>`;
}

function answers({ id, answers: all }: Operation, { objects }: Writing): Markup {
  const good = all.filter(({ status }) => !/^[45]/.test(status));
  const items = good.map(({ status, description, contents }) => {
    const place = { objects, id: `${id}.${status}`, isSent: false };
    const parts = contents.map((content) => answerContent(content, place));
    return html`<li>
      <div class="answer-words"><b>${status}</b> ${prose(description)}</div>
      ${parts}
    </li>`;
  });
  return html`<h4>Response</h4>
    <ul class="fields">
      ${items}
    </ul>`;
}

function answerContent({ mediaType, schema = {} }: Content, place: Place): Markup {
  const name = nameOf(schema);
  if (name !== undefined && isObject(schema, place)) return unfoldable(name);
  const resolved = place.objects.resolve(schema);
  if (resolved.properties !== undefined)
    return html`<details>
      <summary>${Object.keys(resolved.properties).length} fields</summary>
      ${schemaFields(resolved, place)}
    </details>`;
  const what = mediaType === 'application/json' ? typeOf(schema, place) : html`<code>${mediaType}</code>`;
  return html`<p class="small soft">${what}</p>`;
}

export function codesIn(description: string): readonly string[] {
  return [...description.matchAll(/`(\w+)`/g)].map(([, code = '']) => code);
}

function errors({ answers: all }: Operation, { commonCodes, explained }: Writing): Markup {
  const rows = all
    .filter(({ status }) => /^[45]/.test(status))
    .map(({ status, description }) => ({
      status,
      codes: codesIn(description).filter((code) => !commonCodes.has(code)),
    }))
    .filter(({ codes }) => codes.length > 0);
  if (rows.length === 0) return nothing;
  const items = rows.map(
    ({ status, codes }) => html`<li><b>${status}</b> ${codes.map((code) => codeLink(code, explained))}</li>`,
  );
  return html`<details class="errors">
    <summary>Errors</summary>
    <ul class="fields">
      ${items}
      <li>and <a href="#errors">the errors that any request can get</a></li>
    </ul>
  </details>`;
}

export function codeLink(code: string, explained: ReadonlySet<string>): Markup {
  return explained.has(code)
    ? html`<a href="docs/errors#${code}"><code>${code}</code></a> `
    : html`<code>${code}</code> `;
}

function examples(operation: Operation, request: TriedRequest, { objects, origin }: Writing): Markup {
  const sample = answerSample(operation, objects);
  const choices = languages.map(
    (language) => html`<button data-language="${language}">${languageNames[language]}</button>`,
  );
  const programs = programsOf(operation, request, origin).map(
    ({ language, text }) =>
      html`<pre tabindex="0" class="program" data-language="${language}"><code>${text}</code></pre>`,
  );
  const answer =
    sample === undefined
      ? nothing
      : html`<details>
          <summary>Example response</summary>
          <pre tabindex="0"><code>${JSON.stringify(sample, null, 1)}</code></pre>
        </details>`;
  return html`<div class="examples">
    <div class="row apart tools">
      <div class="row" role="group" aria-label="Language">${choices}</div>
      <button class="copy">Copy</button>
    </div>
    ${programs}${answer}
    <div class="tools"><button class="main try">Try it</button></div>
  </div>`;
}

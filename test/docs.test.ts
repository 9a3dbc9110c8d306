import { sharedPlaces } from '../src/base/places.ts';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { z } from 'zod';
import { addOperatorCommands } from '../src/cli/commands.ts';
import type { CliContext } from '../src/cli/context.ts';
import { createProgram } from '../src/cli/program.js';
import { operatorRoles, rolePresets } from '../src/base/operator.ts';
import { roleMeanings } from '../src/base/role-meanings.js';
import { environmentNames } from '../src/config/environment.ts';
import { parseGatewayConfig } from '../src/config/gateway-file.ts';
import { fileSchema } from '../src/config/gateway-schema.ts';
import { errorTable, taskErrorCodes } from '../src/errors/errors.ts';
import { jsonDepthMax, jsonKeysMax, jsonNodesMax } from '../src/intake/json-scanner.ts';
import { attentionReasons } from '../src/task/attention.ts';
import { actionTable, operatorActions } from '../src/operating/acts.ts';
import { measures } from '../src/money/measures.ts';
import { failureClasses } from '../src/errors/failure.ts';
import { stateNames, stateWords } from '../src/task/state.ts';
import { callbackFaults, faultsInText, taskFaults, transportFaults } from '../workshop/simulator/fault.ts';
import { createDocument, errorCodesOf } from '../src/http/openapi.ts';
import { openApiPath } from '../src/http/openapi-schemas.ts';
import { createRoutes } from '../src/http/routes/index.ts';
import { documentText } from '../workshop/document.ts';
import type { RouteDeps } from '../src/http/deps.ts';
import { everyMetric } from './support/every-metric.ts';
import { familyOf } from './support/scrape.ts';
import { readSources } from './support/source-rules.ts';

const project = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const sorted = (names: Iterable<string>) => [...new Set(names)].toSorted((a, b) => a.localeCompare(b));

describe('docs/errors.md', () => {
  const page = read('docs/errors.md');
  const sections = new Map(
    page
      .split(/^### /m)
      .slice(1)
      .map((section) => {
        const [code = '', , facts = ''] = section.split('\n');
        return [code, facts] as const;
      }),
  );

  it('describes every code, and no other', () => {
    expect(sorted(sections.keys())).toEqual(sorted([...Object.keys(errorTable), ...taskErrorCodes]));
  });

  it.each(Object.entries(errorTable))('%s: status and type', (code, { status, type }) => {
    expect(sections.get(code)).toBe(`${status} · ${type}`);
  });

  it('describes every class of failure, and no other', () => {
    const described = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name = '']) => name);
    expect(sorted(described)).toEqual(sorted(failureClasses));
  });

  it('names the statuses after which the same request may be repeated', () => {
    const [sentence = ''] = /^Repeat an unchanged request only after .*?\./m.exec(page) ?? [];
    const statuses = (retryable: boolean) =>
      Object.values(errorTable).flatMap((row) => (row.retryable === retryable ? [String(row.status)] : []));
    expect(sorted(sentence.match(/\d+/g) ?? [])).toEqual(sorted(statuses(true)));
    // With some statuses, only certain codes can be retried. Those responses therefore carry the header.
    const open = [...new Set(statuses(false).filter((status) => statuses(true).includes(status)))];
    expect(open).toEqual(['409']);
    expect(sentence).toMatch(/and after a 409 that carries `retry-after`\.$/);
  });

  it('states the limits of JSON', () => {
    const [values, keys] = [jsonNodesMax, jsonKeysMax].map((count) => count.toLocaleString('en'));
    const [, section = ''] = page.split('### request_too_large');
    expect(section.replaceAll('\n', ' ')).toContain(
      `at most ${values} values and ${keys} keys, and may be nested at most ${jsonDepthMax} levels deep`,
    );
  });

  it('every code is thrown somewhere', () => {
    const sources = Object.values(readSources(project, ['src'])).join('\n');
    const thrown = [...sources.matchAll(/GatewayError\(\s*'(\w+)'/g)].map(([, code = '']) => code);
    expect(sorted(thrown)).toEqual(sorted(Object.keys(errorTable)));
  });

  it('every code is declared by a route', () => {
    const documented = new Set(routes().flatMap((route) => [...errorCodesOf(route)]));
    const elsewhere = ['route_not_found', 'provider_error', 'rate_limit_exceeded'];
    for (const code of Object.keys(errorTable)) {
      expect([...documented, ...elsewhere]).toContain(code);
    }
  });
});

describe('the measures of prices', () => {
  it.each([
    ['docs/money.md', /^\| measure \|.*\n\|.*\n((?:\|.*\n)+)/m, /^\| `(\w+)`/gm],
    ['gateway.example.yaml', /^# +measure +((?:.*\n#  {20,})*.*)$/m, /(\w+)(?= \()/g],
  ])('%s describes every one, and no other', (path, place, name) => {
    const [, described = ''] = place.exec(read(path)) ?? [];
    expect(sorted([...described.matchAll(name)].map(([, one = '']) => one))).toEqual(sorted(measures));
  });
});

describe('docs/operating.md', () => {
  const page = read('docs/operating.md');

  it('describes every metric of ours with its labels, and no other', async () => {
    const rows = [...page.matchAll(/^\| (`mediary_[^|]*) \| ([^|]*?) ?\| (?:process|system) \|/gm)];
    const names = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
    const described = rows.flatMap(([, metrics = '', labels = '']) =>
      names(metrics).map((metric) => [metric, ...names(labels)].join(' ')),
    );
    const series = await everyMetric(['one']);
    const labelled = series.map((each) =>
      [familyOf(each), ...Object.keys(each.labels).filter((label) => label !== 'le')].join(' '),
    );
    expect(sorted(described)).toEqual(sorted(labelled));
  });
  const table = (heading: string) =>
    [...(page.split(`\n| ${heading} |`)[1]?.split('\n\n')[0] ?? '').matchAll(/^\| `(\w+)` \|.*$/gm)].map(
      ([row, name = '']) => ({ name, cells: row.split('|').map((cell) => cell.trim()) }),
    );

  it('explains what to do for every reason for attention, and for no other', () => {
    expect(sorted(table('attention').map(({ name }) => name))).toEqual(sorted(attentionReasons));
  });

  it('lists every state with its actions', () => {
    const documented = table('state').map(({ name, cells: [, , meaning, actions = ''] }) => ({
      name,
      meaning,
      actions: [...actions.matchAll(/`(\w+)`/g)].map(([, action]) => action),
    }));
    const known = stateNames.map((name) => ({
      name,
      meaning: stateWords[name],
      actions: operatorActions.filter((action) => actionTable[action].possible.some((at) => at === name)),
    }));
    expect(documented).toEqual(known);
  });

  it('lists every action with what it does and what it needs', () => {
    const documented = table('action').map(({ name, cells: [, , text, input = ''] }) => ({
      name,
      text,
      fields: [...input.matchAll(/`(\w+)`( \(optional\))?/g)].map(([, field, optional]) => [
        field,
        optional === undefined,
      ]),
    }));
    const known = operatorActions.map((name) => {
      const { description: text, fields } = actionTable[name];
      return { name, text, fields: Object.entries(fields) };
    });
    expect(documented).toEqual(known);
  });
});

/** test/cli/samples.test.ts runs the samples in docs/operating.md. */
describe('the lines of consoles in the documentation', () => {
  const pages = readdirSync(new URL('../docs', import.meta.url)).filter((name) => name.endsWith('.md'));
  const lines = ['README.md', ...pages.map((name) => `docs/${name}`)].flatMap((page) =>
    [...read(page).matchAll(/^```console\n(.*?)^```/gms)].flatMap(([, text = '']) =>
      [...text.matchAll(/^\$ (gateway .*)$/gm)].map(([, line = '']) => line),
    ),
  );
  const words = (line: string) =>
    [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
      ([, single, double, plain]) => single ?? double ?? plain ?? '',
    );

  it('name commands and options that exist', async () => {
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) {
      const [, group = '', verb = '', ...rest] = words(line);
      const program = createProgram();
      await addOperatorCommands(program, unusedContext, [group]);
      const named = program.commands.find((one) => one.name() === group);
      const verbs = named?.commands ?? [];
      const command =
        verbs.length === 0 ? named : verbs.find((one) => [one.name(), ...one.aliases()].includes(verb));
      const options = new Set(command?.options.map(({ long }) => long));
      const unknown = rest.filter((word) => word.startsWith('--') && !options.has(word));
      expect([line, command === undefined ? 'no such command' : '', unknown]).toEqual([line, '', []]);
    }
  });

  it('name actions that exist, with what each of them needs', () => {
    const acting = lines.flatMap((line) => {
      const [, , verb, ...rest] = words(line);
      const [action = ''] = verb === 'action' ? rest.slice(1) : rest.slice(rest.indexOf('--action') + 1);
      return verb === 'action' || verb === 'act' ? [{ line, action }] : [];
    });
    expect(acting.length).toBeGreaterThan(3);
    for (const { line, action } of acting) {
      const row = Object.entries(actionTable).find(([name]) => name === action)?.[1];
      const needed = Object.entries(row?.fields ?? {}).flatMap(([field, is]) => (is ? [field] : []));
      const given = [...needed, 'reason'].filter((name) => line.includes(`--${name.replaceAll('_', '-')} `));
      expect([line, given]).toEqual([line, row === undefined ? [] : [...needed, 'reason']]);
    }
  });
});

const unusedContext: CliContext = {
  print: () => undefined,
  warn: () => undefined,
  isTerminal: false,
  isColoured: false,
  now: Date.now,
  environment: unused,
  loadConfig: unused,
  loadProviders: unused,
  rotateSecrets: unused,
  acceptClock: unused,
  diagnose: unused,
  fail: () => undefined,
};

function unused(): never {
  throw new Error('nothing is run here');
}

describe('docs/contributing.md', () => {
  it('names files that exist', () => {
    const names = [...read('docs/contributing.md').matchAll(/`((?:src|test|docs)\/[\w./<>-]+)`/g)];
    const files = names.map(([, name = '']) => name).filter((name) => !name.includes('<'));
    expect(files.length).toBeGreaterThan(5);
    for (const file of files)
      expect([file, existsSync(new URL(`../${file}`, import.meta.url))]).toEqual([file, true]);
  });
});

describe('docs/deployment.md', () => {
  const page = read('docs/deployment.md');

  it('repeats the meanings of the roles, and adds that of ADMIN_TOKEN', () => {
    const [, table = ''] = page.split('| role | may |\n|---|---|\n');
    const [rows = ''] = table.split('\n\n');
    const meanings = operatorRoles.map((role) => `| \`${role}\` | ${roleMeanings[role]} |`);
    expect(rows.split('\n')).toEqual([...meanings, expect.stringMatching(/^\| `admin`: /)]);
  });

  it('lists the roles of each preset', () => {
    const [, listed = ''] = /^`--roles` accepts .*? presets for several: (.*?)\. /m.exec(page) ?? [];
    const presets = Object.entries(rolePresets).map(([name, roles]) => {
      const isAll = roles.length === operatorRoles.length;
      return `\`${name}\` (${isAll ? 'all seven' : roles.filter((role) => role !== 'read').join(', ')})`;
    });
    expect(operatorRoles).toHaveLength(7);
    expect(listed).toBe(presets.join(', '));
  });
});

describe('docs/simulator.md', () => {
  const page = read('docs/simulator.md');

  it.each([
    ['Faults of an exchange', transportFaults],
    ['Faults of a job', taskFaults],
    ["Faults of a job's callback", callbackFaults],
  ])('%s: describes every fault mark, and no other', (title, faults) => {
    const [, section = ''] = page.split(`## ${title}\n`);
    const [table = ''] = section.split('\n## ');
    const described = [...table.matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map(([, name = '']) => name);
    expect(sorted(described)).toEqual(sorted(faults));
    expect(described).toHaveLength(faults.length);
  });

  it('its examples are marks that the simulator knows', () => {
    const marks = [...page.matchAll(/\[sim:[^\]]+\]/g)].map(([mark]) => mark);
    expect(marks.length).toBeGreaterThan(5);
    for (const mark of marks) expect(faultsInText(mark)).toHaveLength(1);
  });
});

describe('docs/configuration.md', () => {
  const page = read('docs/configuration.md');

  it('describes every environment variable, and no other', () => {
    const documented = [...page.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name = '']) => name);
    expect(sorted(documented)).toEqual(sorted(environmentNames));
    expect(documented).toHaveLength(environmentNames.length);
  });

  const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];

  it('its example is a valid configuration', () => {
    expect(parseDocument(example).errors).toEqual([]);
    const config = parseGatewayConfig(example, 'docs/configuration.md', {
      environment: { ARK_KEY_A: 'x' },
      providerNames: ['ark'],
    });
    expect(config.models).toHaveLength(2);
  });

  it('its example shows every key of the file', () => {
    const shown = new Set(keysOf(parse(example)));
    const known = schemaKeys(z.toJSONSchema(fileSchema, { io: 'input', unrepresentable: 'any' }));
    const conditions = /`when` may test ([\s\S]*?)\./.exec(page)?.[1] ?? '';
    const missing = sorted(known).filter((key) => !shown.has(key) && !conditions.includes(`\`${key}\``));
    expect(missing).toEqual([]);
  });
});

describe('the OpenAPI document', () => {
  const document = createDocument(routes());
  const described = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method} ${path}`),
  );

  it('is 3.1 and describes every path of every route, and no other', () => {
    expect(document.openapi).toBe('3.1.0');
    const declared = routes().flatMap(({ method, paths }) =>
      paths.map((path) => `${method} ${openApiPath(path)}`),
    );
    expect(sorted(described)).toEqual(sorted(declared));
    expect(described).toHaveLength(declared.length);
  });

  it('operation ids are unique and named as their files', () => {
    const ids = routes().map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const files = Object.keys(readSources(project, ['src/http/routes', 'src/http/dialects']));
    for (const id of ids) {
      const file = id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      expect(files.filter((path) => path.endsWith(`/${file}.ts`))).toHaveLength(1);
    }
  });

  it('every operation has a summary, its security and its errors', () => {
    for (const [path, item] of Object.entries(document.paths ?? {})) {
      for (const operation of Object.values(item) as Operation[]) {
        expect(operation.summary).toMatch(/\w/);
        expect(operation.responses).toHaveProperty('500');
        expect(operation.security.length > 0).toBe(/^\/(v1|admin|api|fal)/.test(path));
      }
    }
  });

  it('the create’s body has the contract’s fields', () => {
    const schema = document.components?.schemas?.['VideoRequest'];
    expect(schema).toMatchObject({ type: 'object', required: ['model', 'prompt'] });
    expect(Object.keys((schema as { properties: object }).properties)).toEqual([
      'model', 'prompt', 'mode', 'input_type', 'image', 'images', 'videos', 'audios', 'resolution', 'ratio', 'size', 'duration', 'seconds', 'metadata',
    ]); // prettier-ignore
  });

  it('describes the other responses: not modified, parts of files, bad queries', () => {
    const full = JSON.parse(documentText()) as { paths: Record<string, Record<string, Operation>> };
    const statuses = (method: string, path: string) =>
      Object.keys(full.paths[path]?.[method]?.responses ?? {});
    expect(statuses('get', '/v1/videos/generations/{task_id}')).toEqual(
      expect.arrayContaining(['200', '304', '400']),
    );
    expect(statuses('get', '/media/{task_id}/{name}')).toEqual(expect.arrayContaining(['206', '304', '416']));
    expect(statuses('get', '/v1/models/{model}')).toContain('404');
    for (const [path, item] of Object.entries(full.paths)) {
      if (JSON.stringify(item['get']?.parameters ?? []).includes('"in":"query"')) {
        expect([path, statuses('get', path)]).toEqual([path, expect.arrayContaining(['400'])]);
      }
    }
  });

  it('names a server, describes the callback, and leaves misspelt fields no room', () => {
    const full = JSON.parse(documentText());
    expect(full.servers).toEqual([expect.objectContaining({ url: '/' })]);
    expect(full.webhooks.taskEnded.post.requestBody.required).toBe(true);
    for (const name of ['VideoRequest', 'ImageGenerationRequest', 'ImageEditRequest']) {
      const schema = full.components.schemas[name];
      expect(schema.examples).toHaveLength(1);
      expect(schema.properties.prompt).toMatchObject({ pattern: '\\S' });
      expect(schema.additionalProperties ?? false).toBe(false);
    }
  });

  it('is plain JSON without dangling references', () => {
    const text = JSON.stringify(document);
    const names = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(document.components?.schemas).toHaveProperty(name);
  });
});

interface Operation {
  readonly summary: string;
  readonly security: readonly unknown[];
  readonly responses: object;
  readonly parameters?: readonly unknown[];
}

function routes() {
  const images = { vendorFields: new Set() };
  const deps = { operatorAuth: {}, images, storedFiles: { files: {} }, now: Date.now };
  return createRoutes(deps as unknown as RouteDeps);
}

function keysOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [key, ...keysOf(item)]);
}

function schemaKeys(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(schemaKeys);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, item]) =>
    key === 'properties' && typeof item === 'object' && item !== null
      ? Object.entries(item).flatMap(([name, inner]) => [name, ...schemaKeys(inner)])
      : schemaKeys(item),
  );
}

it('docs/capacity.md lists every resource that is shared in places, how long one is held, and the response when it is full', () => {
  const [, section = ''] = read('docs/capacity.md').split('## Shared places\n');
  const rows = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  const cells = rows.slice(1).map((row) => row.split('|').map((cell) => cell.trim()));
  expect(cells.map(([, name]) => name)).toEqual(sharedPlaces);
  for (const row of cells) expect(row.slice(1, -1).filter((cell) => cell !== '')).toHaveLength(6);
});

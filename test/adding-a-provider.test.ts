import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const project = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(project, 'docs/adding-a-provider.md'), 'utf8');
const example = 'dashscope';

function filesBelow(path: string): string[] {
  const absolute = join(project, path);
  if (!statSync(absolute).isDirectory()) return [path];
  return readdirSync(absolute, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((name) => statSync(join(project, name)).isFile());
}

const listed = [...page.matchAll(/^\|[^|]*\|([^|]*)\|(?:[^|]*\|)?$/gm)]
  .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)])
  .map(([, path = '']) => path.replace('<name>', example).replace(/\*.*$/, ''))
  .filter((path) => path.includes('/') || path.includes('.'));

it('docs/adding-a-provider.md lists every file of the product that a provider touches', () => {
  const product = [
    'src',
    'workflows',
    'activities',
    'deploy',
    'gateway.example.yaml',
    'Dockerfile',
    'docker-compose.yml',
  ];
  const touched = product
    .flatMap(filesBelow)
    .filter((path) => readFileSync(join(project, path), 'utf8').toLowerCase().includes(example));
  expect(touched).toContain('src/local/gateway.local.yaml');
  const unlisted = touched.filter((path) => !listed.some((entry) => path.startsWith(entry)));
  expect(unlisted).toEqual([]);
});

function membersOf(name: string): string[] {
  const source = readFileSync(join(project, 'src/providers/provider.ts'), 'utf8');
  const body =
    new RegExp(`^(?:export )?interface ${name}\\b[^{]*\\{\\n([\\s\\S]*?)^\\}`, 'm').exec(source)?.[1] ?? '';
  return [...body.matchAll(/^  (?:readonly )?(\w+)\??[:(]/gm)].map(([, member = '']) => member);
}

it('docs/adding-a-provider.md names everything that an adapter may have', () => {
  const members = [
    'Provider',
    'ResultLinks',
    'TaskProvider',
    'SynchronousImageProvider',
    'CallbackNews',
  ].flatMap(membersOf);
  for (const known of ['video', 'linkHeaders', 'verifyCallback', 'imageForms', 'reply'])
    expect(members).toContain(known);
  expect(members.filter((member) => !new RegExp(`\\b${member}\\b`).test(page))).toEqual([]);
});

it('the helpers that docs/adding-a-provider.md names exist', () => {
  const shared = filesBelow('src/providers/shared')
    .map((path) => readFileSync(join(project, path), 'utf8'))
    .join('\n');
  const rows = /\| for \| helper \|\n\|[-|]+\|\n((?:\|.*\n)+)/.exec(page)?.[1] ?? '';
  const named = [...rows.matchAll(/`(\w+)`/g)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'Refusal');
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !new RegExp(`\\b${name}\\b`).test(shared))).toEqual([]);
});

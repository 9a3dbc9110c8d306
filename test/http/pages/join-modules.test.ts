import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { writers } from '../../../src/base/request-code.js';
import { joinModules } from '../../../src/http/pages/join-modules.ts';

const apart = new Set(['shared/kit.js']);
const servedAs = (module: string) => (module.startsWith('shared/') ? 'shared/all.js' : module);

function join(files: Readonly<Record<string, string>>, names = Object.keys(files)): string {
  return joinModules(names, { texts: new Map(Object.entries(files)), apart, servedAs });
}

async function run(files: Readonly<Record<string, string>>): Promise<Record<string, any>> {
  return import(`data:text/javascript,${encodeURIComponent(join(files))}`);
}

it('runs each module once, after those that it imports, in its own scope', async () => {
  const { page_main: main } = await run({
    'page/main.js': `import { one as first, two } from './part-a.js';\nconst path = 'main';\nexport const all = [first, two(), path];\n`,
    'page/part-a.js': `/** A comment. */\nconst path = 'part';\nexport const one = path; // kept\nexport function two() {\n  return path.length;\n}\n`,
  });
  expect(main.all).toEqual(['part', 4, 'main']);
});

it('imports other folders from where they are served', () => {
  const text = join(
    {
      'page/main.js': `import { html } from '../shared/kit.js';\nimport { Api } from '../shared/api.js';\nexport {};\n`,
      'shared/api.js': '',
    },
    ['page/main.js'],
  );
  expect(text).toContain(
    `import * as shared_kit from '../shared/all.js';\nimport { shared_api } from '../shared/all.js';\n`,
  );
  expect(text).toContain('const { Api } = shared_api;');
});

it.each([
  [`import x from './y.js';\n`],
  [`import './y.js';\n`],
  [`export default 1;\n`],
  [`export { a } from './b.js';\n`],
])('rejects an unknown form: %s', (text) => {
  expect(() => join({ 'page/main.js': text })).toThrow(TypeError);
});

it('rejects modules that import each other', () => {
  expect(() =>
    join({
      'page/a.js': `import { b } from './b.js';\nexport const a = 1;\n`,
      'page/b.js': `import { a } from './a.js';\nexport const b = 1;\n`,
    }),
  ).toThrow('page/a.js imports itself, through others');
});

it('changes no string of the programs that a page shows', async () => {
  const name = 'shared/code.js';
  const source = readFileSync(new URL('../../../src/base/request-code.js', import.meta.url), 'utf8');
  const served = joinModules([name], {
    texts: new Map([[name, source]]),
    apart: new Set(),
    servedAs: (module) => module,
  });
  const { shared_code: joined } = await import(`data:text/javascript,${encodeURIComponent(served)}`);
  const asked = {
    origin: 'https://a.example',
    method: 'POST',
    path: '/v1',
    body: { prompt: 'two\n  lines', n: [1] },
  };
  for (const [language, write] of Object.entries(writers))
    expect([language, joined.writers[language](asked)]).toEqual([language, write(asked)]);
});

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  folderCircles,
  importsOf,
  importsOutside,
  layoutPaths,
  linesWith,
  readSources,
  repeatedWireFacts,
  translatedPhrases,
  treePaths,
  vendorCrossings,
} from './support/source-rules.ts';
import type { Allowance } from './support/source-rules.ts';

/** Rules that neither the compiler nor the linter can check. Each rule is also tested on a bad sample. */

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = readSources(root, ['src', 'workflows', 'activities']);
const imports = importsOf(sources);
const adapters = readdirSync(join(root, 'src/providers'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !['shared', 'vendor-files'].includes(entry.name))
  .map(({ name }) => name);

describe('vendor names', () => {
  /**
   * `gateway` is the name of this product, and `openai` that of the convention that its own API follows, so leave them
   * out.
   */
  const vendors = adapters.filter((name) => name !== 'gateway' && name !== 'openai');
  const relatives =
    'seedance|seedream|volc\\w*|byteplus|aliyun|alibaba|new-?api|gpt-image|qwen|hailuo|runwayml';
  const names = new RegExp(`\\b(?:${relatives}|${vendors.join('|')})\\b`, 'i');

  it('stay in the adapters, in dialects, and in local mode, whose files name models of its own configuration', () => {
    const allowed = [
      'src/providers/',
      'src/local/banner.ts',
      'src/local/demo.ts',
      'src/http/dialects/',
      'src/http/example-models.ts',
    ];
    expect(linesWith(sources, names, allowed)).toEqual([]);
  });

  it('include every adapter', () => {
    const unknown = adapters.filter((name) => !names.test(name));
    expect(unknown).toEqual(['gateway', 'openai']);
  });

  it('are found in code, text and comments', () => {
    const bad = { 'src/http/a.ts': "if (provider === 'ark') {\n}", 'src/task/b.ts': '// as Seedance does' };
    expect(linesWith(bad, names, ['src/providers/'])).toEqual([
      "src/http/a.ts:1 if (provider === 'ark') {",
      'src/task/b.ts:1 // as Seedance does',
    ]);
    expect(
      linesWith({ 'src/providers/ark/a.ts': 'ark', 'src/a.ts': 'mark' }, names, ['src/providers/']),
    ).toEqual([]);
  });
});

describe('the environment', () => {
  const reads =
    /\bprocess\s*(?:\?\.|\.)\s*env\b|\bprocess\[|\{[^}]*\benv\b[^}]*\}\s*(?:=|from)\s*(?:'node:)?process/;

  it('is read by src/config/environment.ts only', () => {
    expect(linesWith(sources, reads, ['src/config/environment.ts'])).toEqual([]);
  });

  it.each([
    "process.env['A']",
    'process?.env',
    "process['env']",
    'const { env } = process',
    "import { env } from 'node:process'",
  ])('would be found by %s', (line) =>
    expect(linesWith({ 'src/a.ts': line }, reads, [])).toEqual([`src/a.ts:1 ${line}`]),
  );
});

describe('requests that leave the gateway', () => {
  const clients = /from '[^']*http-client\/(?!index\.ts')/;
  /** Exempt, because local mode and the command line call the operator's own processes. */
  const own = ['src/local/', 'src/cli/admin-client.ts', 'src/http-client/'];

  it('use Outbound, which decides the networks that each may reach', () => {
    const others = Object.fromEntries(
      Object.entries(sources).filter(([file]) => !own.some((path) => file.startsWith(path))),
    );
    expect(linesWith(others, clients, [])).toEqual([]);
    expect(linesWith(others, /from '(?:undici|node:https)'/, [])).toEqual([]);
  });

  it('would be found', () => {
    const line = "import { createGuardedClient } from '../http-client/guarded-client.ts';";
    expect(linesWith({ 'src/a.ts': line }, clients, [])).toEqual([`src/a.ts:1 ${line}`]);
  });
});

describe('caches with a limit', () => {
  it('come from createRecent, which allocates nothing for the limit', () => {
    expect(linesWith(sources, /from 'lru-cache'/, ['src/base/recent.ts'])).toEqual([]);
  });
});

describe('price units', () => {
  // These names are left out of the pattern: `image` is also a kind of task, and `call` has another meaning in the
  // simulator and the flight record.
  const names = /'million_tokens'|\bunit [!=]== '|'[a-z_]+' [!=]== (?:\w+\.)*unit\b/;

  it('are known by name only to the rules of prices and the quote', () => {
    // src/client/types.ts is exempt, because the client's types are generated from the OpenAPI document, which reads
    // the table.
    expect(linesWith(sources, names, ['src/money/', 'src/routing/quote.ts', 'src/client/types.ts'])).toEqual(
      [],
    );
  });

  it.each(["if (price.unit === 'second') {", "'call' !== unit", "const unit = 'million_tokens';"])(
    'would be found by %s',
    (line) => expect(linesWith({ 'src/a.ts': line }, names, [])).toEqual([`src/a.ts:1 ${line}`]),
  );
});

describe('documents of MongoDB', () => {
  const words = /\b_id\b|\bfrom '(?:mongodb|bson)'|\bimport\('(?:mongodb|bson)/;
  const stored = /import[^;]*\b\w+Document\b[^;]*from '[^']*\/(?:store|ledger)\//;
  // The last file starts a server and turns it into a replica set.
  const allowed = ['src/store/', 'src/ledger/', 'src/local/servers/mongodb-server.ts'];

  it('stay in the stores and the ledger, which return domain types', () => {
    expect(linesWith(sources, words, allowed)).toEqual([]);
    const importers = Object.entries(sources).filter(([file, text]) => {
      return !allowed.some((path) => file.startsWith(path)) && stored.test(text);
    });
    expect(importers.map(([file]) => file)).toEqual([]);
  });

  it.each([
    'tasks.map(({ _id }) => _id)',
    "import type { Filter } from 'mongodb';",
    "import { ObjectId } from 'bson';",
  ])('would be found by %s', (line) => {
    expect(linesWith({ 'src/http/a.ts': line }, words, allowed)).toEqual([`src/http/a.ts:1 ${line}`]);
    expect(linesWith({ 'src/store/a.ts': line }, words, allowed)).toEqual([]);
  });

  it('have no user-chosen name in the path of a field, because it may contain dots', () => {
    const path = /\[?`[\w.]*\.\$\{/;
    const inside = (text: string) => linesWith({ 'src/store/a.ts': text }, path, []);
    expect(inside('$set: { [`at.${channel}`]: at }')).toHaveLength(1);
    expect(inside('_id: `${account}/${seq}`')).toEqual([]);
    // Exempt paths: numbers, the gateway's own names, and an id that cannot contain dots (`notify.targets[].id`).
    const known = [
      '`tasks.${limit - 1}`',
      '`_id.${dimension}`',
      '`notified.${target}`',
      '`words.${part}`',
      '`links.${part}`',
    ];
    const stores = Object.entries(sources).filter(([file]) => /^src\/(?:store|ledger)\//.test(file));
    const found = linesWith(Object.fromEntries(stores), path, []);
    expect(found.filter((line) => !known.some((name) => line.includes(name)))).toEqual([]);
    expect(found).toHaveLength(known.length);
  });

  it('would be found in an import over several lines', () => {
    const text = "import type {\n  TaskDocument,\n} from '../store/task-document.ts';";
    expect(stored.test(text)).toBe(true);
    expect(stored.test("import type { Task } from '../store/tasks.ts';")).toBe(false);
  });
});

describe('routes', () => {
  const names = (folder: string, end: string) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(end))
      .map((name) => name.slice(0, -end.length))
      .toSorted();

  it('each have a test with their own name, and no test is left over from a removed one', () => {
    const routes = names('src/http/routes', '.ts').filter((name) => name !== 'index');
    expect(names('test/http/routes', '.test.ts')).toEqual(routes);
  });
});

describe('adapters', () => {
  it.each(adapters)('%s has recorded responses, and a test that reads them', (name) => {
    const fixtures = readdirSync(join(root, 'test/fixtures', name));
    expect(fixtures.length).toBeGreaterThan(0);
    // Tests refer to a fixture as `fixture('vendor/name')`, or list its name in a table next to `vendor/`.
    const tests = Object.values(readSources(root, ['test/providers'])).filter((text) =>
      text.includes(`${name}/`),
    );
    const used = fixtures.filter((file) =>
      tests.some((text) => new RegExp(`['/]${file.replace('.json', '')}'`).test(text)),
    );
    expect(used).toEqual(fixtures);
  });

  it('import nothing from each other', () => {
    expect(vendorCrossings(imports, adapters)).toEqual([]);
    const bad = importsOf({ 'src/providers/a/x.ts': "import { y } from '../b/y.ts';" });
    expect(vendorCrossings(bad, ['a', 'b'])).toEqual(['src/providers/a/x.ts → src/providers/b/y.ts']);
    const good = importsOf({ 'src/providers/a/x.ts': "import { y } from '../shared/y.ts';" });
    expect(vendorCrossings(good, ['a', 'b'])).toEqual([]);
  });

  it('do not repeat a fact of the wire format that another file contains', () => {
    expect(repeatedWireFacts(readSources(root, ['src/providers']))).toEqual([]);
    expect(
      repeatedWireFacts({
        'a.ts': "post('/api/v1/tasks'); if (code === 'Invalid.Key') fail('model');",
        'b.ts': "get('/api/v1/tasks'); const codes = ['Invalid.Key', 'model'];",
      }),
    ).toEqual(['/api/v1/tasks: a.ts, b.ts', 'Invalid.Key: a.ts, b.ts']);
  });
});

describe('imports between folders', () => {
  /** Folders that contain only pure rules, lowest first. Each may import those that precede it. */
  const pure = ['base', 'money', 'errors', 'models', 'intake', 'health', 'task', 'reports', 'operating'];
  const pureRows = Object.fromEntries(pure.map((name, index) => [name, { runs: pure.slice(0, index) }]));
  /** Lists everything that a folder may import. Whatever else it needs must be passed in as an argument. */
  const table: Readonly<Record<string, Allowance>> = {
    ...pureRows,
    // `config` uses `process` to check whether the process that wrote local mode's settings is still running.
    config: { runs: [...pure, 'process'] },
    // `base` has the loop for lists whose items may fail.
    process: { runs: ['base'] },
    observability: { runs: [...pure, 'process', 'store'] },
    // `process` contains the threads that evaluate the expressions in vendor files.
    providers: { runs: [...pure, 'process'] },
    // `process` contains the temporary directories.
    bills: { runs: [...pure, 'process'], types: ['providers'] },
    store: { runs: [...pure, 'process'], types: ['bills', 'providers'] },
    ledger: { runs: [...pure, 'store'], types: ['access', 'observability'] },
    'http-client': { runs: [...pure, 'process', 'providers'] },
    access: { runs: [...pure, 'process'], types: ['store'] },
    // At run time, only the snapshot from `store` is needed.
    capacity: { runs: [...pure, 'process', 'providers', 'store'], types: ['config'] },
    routing: {
      runs: [...pure, 'process', 'providers', 'store'],
      types: ['access', 'config', 'observability'],
    },
    polling: { runs: [...pure, 'flight', 'process', 'providers', 'routing'], types: ['capacity'] },
    notices: {
      runs: [...pure, 'access', 'capacity', 'http-client', 'process'],
      types: ['config', 'observability', 'store'],
    },
    control: { runs: [...pure, 'config', 'process', 'store'] },
    commands: {
      runs: [...pure, 'access', 'process', 'store'],
      types: ['ledger', 'observability', 'routing'],
    },
    images: {
      runs: [
        ...pure,
        'access',
        'commands',
        'http-client',
        'process',
        'providers',
        'results',
        'routing',
        'store',
      ],
      types: ['capacity', 'ledger', 'observability'],
    },
    media: {
      runs: [...pure, 'http-client', 'images', 'process', 'providers', 'results', 'routing'],
      types: ['access', 'observability', 'store'],
    },
    results: {
      runs: [...pure, 'http-client', 'process', 'routing'],
      types: ['config', 'observability', 'store'],
    },
    flight: {
      runs: [...pure, 'http-client', 'providers', 'routing'],
      types: ['ledger', 'observability', 'store'],
    },
    temporal: {
      runs: [...pure, 'process', 'workflows'],
      types: ['activities', 'commands', 'config', 'observability'],
    },
    http: {
      runs: [...pure, 'access', 'bills', 'flight', 'images', 'process', 'results', 'routing'],
      types: [
        'capacity',
        'commands',
        'config',
        'control',
        'ledger',
        'media',
        'notices',
        'observability',
        'providers',
        'store',
      ],
    },
    client: { runs: [] },
    // Pages run in browsers. Their types are those of the API's responses.
    pages: { runs: ['base'], types: ['flight', 'http'] },
    cli: {
      runs: [...pure, 'bills', 'config', 'flight', 'ledger', 'providers', 'routing', 'temporal'],
      types: ['access', 'store'],
    },
    // Local mode is a composition root that has grown into a folder of its own.
    local: { runs: [...pure, 'client', 'config', 'process', 'providers', 'routing'] },
    workflows: { runs: pure, types: ['activities', 'providers'] },
    activities: {
      runs: [...pure, 'access', 'flight', 'polling', 'process', 'providers', 'routing', 'commands'],
      types: ['capacity', 'config', 'images', 'ledger', 'media', 'observability', 'store'],
    },
  };
  const roots = [
    'api.ts',
    'worker.ts',
    'cli.ts',
    'local.ts',
    'load-ahead.js',
    'typescript.js',
    'typescript-loader.js',
    'compose',
  ];
  const everything = Object.keys(table);
  const withRoots = {
    ...table,
    ...Object.fromEntries(roots.map((name) => [name, { runs: [...everything, ...roots] }])),
  };

  it('match the design', () => {
    expect(importsOutside(withRoots, imports)).toEqual([]);
  });

  it('are refused in the other direction, from an unknown folder, and at run time where only types may', () => {
    const bad = importsOf({
      'src/task/a.ts': "import type { B } from '../http/b.ts';",
      'src/new/a.ts': "import { b } from '../task/b.ts';",
      'src/http/a.ts': "import type { C } from '../config/c.ts';\nimport { d } from '../config/d.ts';",
      'src/cli/a.ts': "import '../local/b.ts';\nexport * from '../task/b.ts';",
      'src/local/a.ts': "import { b } from '../../workshop/simulator/b.ts';",
    });
    expect(importsOutside(withRoots, bad)).toEqual([
      'src/task/a.ts → src/http/b.ts (type)',
      'src/new/a.ts → src/task/b.ts',
      'src/http/a.ts → src/config/d.ts',
      'src/cli/a.ts → src/local/b.ts',
      'src/local/a.ts → workshop/simulator/b.ts',
    ]);
  });

  it('only the entry points load the configuration', () => {
    const loads = imports.filter(
      ({ from, to, isType }) =>
        !isType && to.startsWith('src/config/') && !/^src\/(?:config\/|compose\/|[\w-]+\.ts$)/.test(from),
    );
    // These files do not read gateway.yaml, but a local gateway's record, a vendor file or the text of a draft.
    // local-mode.ts is the composition root of local mode.
    const exempt = [
      'src/control/config-drafts.ts',
      'src/control/catalogue-additions.ts',
      'src/cli/target.ts',
      'src/cli/vendor-test.ts',
      'src/local/find-running.ts',
      'src/local/local-mode.ts',
    ];
    expect(loads.filter(({ from }) => !exempt.includes(from))).toEqual([]);
  });

  it('have no cycles', () => {
    expect(folderCircles(imports)).toEqual([]);
    const bad = importsOf({
      'src/a/x.ts': "import type { y } from '../b/y.ts';",
      'src/b/y.ts': "import { z } from '../c/z.ts';",
      'src/c/z.ts': "import { x } from '../a/x.ts';\nimport { y } from '../b/y.ts';",
    });
    expect(folderCircles(bad)).toEqual(['a → b → c → a', 'b → c → b']);
  });
});

describe('async work that nothing waits for', () => {
  /** An error in such async code would end the process, or fail a whole test run outside any test. */
  const unhandled = /\bvoid \(?async\b/;

  it('handles its errors', () => {
    const all = readSources(root, ['src', 'workflows', 'activities', 'workshop', 'test']);
    expect(linesWith(all, unhandled, ['test/tidy.test.ts'])).toEqual([]);
    expect(linesWith({ 'src/a.ts': 'void (async () => {' }, unhandled, [])).toHaveLength(1);
  });
});

const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8', maxBuffer: 10_000_000 })
  .split('\n')
  .filter((name) => name !== '');

describe('paths of files in comments', () => {
  const comment = /^\s*(?:#|\/\/|\/?\*).*|\s(?:#|\/\/) .*/;
  const path =
    /(?<![\w./-])(?:src|test|workshop|workflows|activities|docs|deploy)\/[\w./-]+\.(?:[jt]s|sh|ya?ml|md|json)\b/g;
  const samples = ['test/tidy.test.ts', 'test/support/source-rules.ts'];

  function missingPaths(texts: Readonly<Record<string, string>>): readonly string[] {
    return Object.entries(texts).flatMap(([name, text]) =>
      text
        .split('\n')
        .flatMap((line) => (comment.exec(line)?.[0] ?? '').match(path) ?? [])
        .filter((named) => !tracked.includes(named))
        .map((named) => `${name}: ${named}`),
    );
  }

  it('exist', () => {
    const names = tracked.filter((name) => /\.(?:[jt]s|sh|ya?ml|css|java|py)$|^\.ci\//.test(name));
    const read = names
      .filter((name) => !samples.includes(name))
      .map((name) => [name, readFileSync(join(root, name), 'utf8')]);
    expect(missingPaths(Object.fromEntries(read))).toEqual([]);
  });

  it('would be found', () => {
    const texts = { 'a.sh': '# as in src/domain/queues.ts', 'b.ts': "open('src/none.ts') // see src/api.ts" };
    expect(missingPaths(texts)).toEqual(['a.sh: src/domain/queues.ts']);
  });
});

describe('docs/layout.md', () => {
  const page = readFileSync(join(root, 'docs/layout.md'), 'utf8');

  it('names every folder and entry point, each once, and nothing else', () => {
    expect(layoutPaths(page).toSorted()).toEqual(treePaths(tracked));
  });

  it('is read from the block of its section', () => {
    const sample =
      '# A\n```\nwrong/  x\n```\n## Layout\n\n```\nsrc/a.ts src/b.ts  roots\nsrc/c/   things in c/\n         more\n```\n';
    expect(layoutPaths(sample)).toEqual(['src/a.ts', 'src/b.ts', 'src/c/']);
    expect(layoutPaths('no section')).toEqual([]);
  });
});

describe('the words of docs/glossary.md', () => {
  const pages = [
    ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`),
    ...readdirSync(join(root, 'docs/decisions')).map((name) => `docs/decisions/${name}`),
    'README.md',
    'gateway.example.yaml',
  ].filter((name) => /\.(?:md|yaml)$/.test(name));
  const texts = {
    ...sources,
    ...readSources(root, ['test', 'workshop/simulator']),
    ...Object.fromEntries(pages.map((name) => [name, readFileSync(join(root, name), 'utf8')])),
  };
  const quotes = ['docs/glossary.md', 'test/tidy.test.ts', 'test/support/source-rules.ts'];

  it('are used: no text contains a phrase that they replace', () => {
    expect(linesWith(texts, translatedPhrases, quotes)).toEqual([]);
  });

  it.each([
    '// the work goes on',
    '// requests on their way',
    '// it looks again by itself',
    '// what the reconciler mends',
    '// a key that is made up',
    '// the upstream tells no usage',
    '/** Tried again later. */',
    '// a task that was given up',
    '// gives the task up',
    '// the file is loaded again',
    '// the attempt is sent again',
    '// the key is shown only once',
    '// It is no JSON.',
    '// is none of these',
    '// an answer that got lost',
    '// it knows nothing of money',
    "'The model takes no images.'",
    "// Temporal's user interface",
  ])('would be missed in %s', (line) => {
    expect(linesWith({ 'src/a.ts': line }, translatedPhrases, [])).toEqual([`src/a.ts:1 ${line}`]);
  });

  it.each([
    '// There is no task with this id.',
    '// It is no longer there.',
    "'Try again shortly.'",
    '// made up of three parts',
    "state: 'gave_up'",
    '// it takes a second',
    '// recommended; amended',
  ])('are not missed in %s', (line) => {
    expect(linesWith({ 'src/a.ts': line }, translatedPhrases, [])).toEqual([]);
  });
});

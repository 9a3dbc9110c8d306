import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { documentText } from './document.ts';

/**
 * `npm run check:document [-- client]`: redocly and spectral find nothing in the OpenAPI document, and a client whose types
 * openapi-typescript generates compiles, and refuses a misspelt field. The three are fetched for the run: they need an
 * older compiler than ours, and some hundred packages. `client`: only the generated client.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'mediary-document-'));

/** OpenAPI 3.1 lets an API key have scopes. This rule knows those of OAuth alone; redocly checks that each scheme exists. */
const spectralRules = 'extends: ["spectral:oas"]\nrules: { oas3-operation-security-defined: off }\n';

const client = `import type { components, paths, webhooks } from './types.d.ts';

type Create = paths['/v1/videos/generations']['post'];
type Video = Create['requestBody']['content']['application/json'];
type Created = Create['responses'][200]['content']['application/json'];
type Ended = webhooks['taskEnded']['post']['requestBody']['content']['application/json'];
type Task = paths['/v1/videos/generations/{task_id}']['get']['responses'][200]['content']['application/json'];
type Image = components['schemas']['ImageGenerationRequest'];

export const video: Video = { model: 'm', prompt: 'p', resolution: '720p', metadata: { seed: 1, theirs: [1] } };
export const image: Image = { model: 'm', prompt: 'p', n: 1, seed: 7 };
export const id = (created: Created): string => created.task_id;
export const ended = ({ status, data }: Ended): string => \`\${status} \${data[0]?.url ?? ''}\`;
export const address = (task: Task): string => (task.status === 'succeeded' ? task.video_url : '');
export const seconds = (task: Task): number => (task.status === 'succeeded' ? task.duration : 0);
export const why = (task: Task): string => (task.status === 'failed' ? task.error.message : '');
// @ts-expect-error: only a task that succeeded has a video
export const early = (task: Task): string => task.video_url;
// @ts-expect-error: a misspelt field
export const misspeltVideo: Video = { model: 'm', prompt: 'p', resolutoin: '480p' };
// @ts-expect-error: a misspelt field
export const misspeltImage: Image = { model: 'm', prompt: 'p', qualty: 'high' };
// @ts-expect-error: the prompt is required
export const incomplete: Video = { model: 'm' };
`;

try {
  writeFileSync(join(directory, 'openapi.json'), documentText());
  writeFileSync(join(directory, '.spectral.yaml'), spectralRules);
  writeFileSync(join(directory, 'client.ts'), client);
  if (process.argv[2] !== 'client') lint();
  npx(
    ['typescript@5.9.3', 'openapi-typescript@7.13.0'],
    ['openapi-typescript', 'openapi.json', '-o', 'types.d.ts'],
  );
  run(join(root, 'node_modules/.bin/tsc'), [
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess',
    '--allowImportingTsExtensions',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    '',
    'client.ts',
  ]);
  process.stdout.write('The generated client compiles.\n');
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function lint(): void {
  // A task's id begins with `task_`: `/v1/videos/{task_id}/content` is not `/v1/videos/generations/{task_id}`.
  const known = '--skip-rule=no-ambiguous-paths';
  npx(['@redocly/cli@2.77.0'], ['redocly', 'lint', 'openapi.json', '--max-problems=100', known]);
  npx(['@stoplight/spectral-cli@6.16.3'], ['spectral', 'lint', 'openapi.json', '--fail-severity=hint']);
}

function npx(packages: readonly string[], command: readonly string[]): void {
  run('npx', ['--yes', ...packages.map((name) => `--package=${name}`), '--', ...command]);
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { cwd: directory, stdio: 'inherit' });
}

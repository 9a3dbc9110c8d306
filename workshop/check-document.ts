import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { documentText } from './document.ts';

/**
 * `npm run check:document`: checks the OpenAPI document with redocly and spectral, which are downloaded for each run.
 */

const directory = mkdtempSync(join(tmpdir(), 'mediary-document-'));

/** OpenAPI 3.1 allows scopes for an API key, but this rule knows only OAuth scopes. */
const spectralRules = 'extends: ["spectral:oas"]\nrules: { oas3-operation-security-defined: off }\n';

try {
  writeFileSync(join(directory, 'openapi.json'), documentText());
  writeFileSync(join(directory, '.spectral.yaml'), spectralRules);
  // A task id starts with `task_`, so the paths `/v1/videos/{task_id}/content` and `/v1/videos/generations/{task_id}`
  // never match the same request.
  const known = '--skip-rule=no-ambiguous-paths';
  npx('@redocly/cli@2.77.0', ['redocly', 'lint', 'openapi.json', '--max-problems=100', known]);
  npx('@stoplight/spectral-cli@6.16.3', ['spectral', 'lint', 'openapi.json', '--fail-severity=hint']);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function npx(name: string, command: readonly string[]): void {
  execFileSync('npx', ['--yes', `--package=${name}`, '--', ...command], { cwd: directory, stdio: 'inherit' });
}

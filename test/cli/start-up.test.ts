import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verbs } from '../../src/cli/program.js';

const project = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const staticImport = /^(?:import|export)\s+(?!type\b)(?:[^'"]*?\sfrom\s+)?'([^']+)'/gm;

/**
 * Returns the project files and packages loaded with `file`, at any depth, but not those loaded by later `import()`s.
 */
function loadedBy(file: string, known = new Set<string>()): Set<string> {
  for (const [, name = ''] of readFileSync(join(project, file), 'utf8').matchAll(staticImport)) {
    const target = name.startsWith('.') ? relative(project, join(project, dirname(file), name)) : name;
    if (known.has(target)) continue;
    known.add(target);
    if (name.startsWith('.')) loadedBy(target, known);
  }
  return known;
}

describe('the command line', () => {
  it('loads nothing for --help but commander and its own table', () => {
    const loaded = [...loadedBy('src/gateway.js')].filter((name) => !name.startsWith('node:'));
    expect(loaded.toSorted()).toEqual(['commander', 'src/cli/program.js']);
  });

  it('loads only the subcommand on its line', () => {
    const loaded = [...loadedBy('src/cli.ts')].filter((name) => !name.startsWith('node:'));
    expect(loaded.toSorted()).toEqual([
      'commander',
      'src/base/plain-text.ts',
      'src/base/server-abilities.ts',
      'src/cli/command-error.ts',
      'src/cli/commands.ts',
      'src/cli/program.js',
      'src/cli/terminal.ts',
      'src/config/config-error.ts',
      'src/config/reload-signal.ts',
      'src/observability/process-ends.ts',
    ]);
  });

  it('shows its help without loading anything for TypeScript', async () => {
    const { stdout } = await run(process.execPath, ['src/gateway.js', '--help'], { cwd: project });
    for (const verb of verbs) expect(stdout).toMatch(new RegExp(`^  ${verb} +\\S`, 'm'));
    await expect(run(process.execPath, ['src/gateway.js', 'taks'], { cwd: project })).rejects.toMatchObject({
      code: 2,
      stderr: "error: unknown command 'taks'\n(Did you mean tasks?)\n",
    });
  });

  it('shows the error text of a gateway without interpreting it', async () => {
    const said = { error: { message: 'no\u001B[2J\u202Eway', code: 'x' } };
    const server = createServer((_, response) => response.writeHead(400).end(JSON.stringify(said)));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const line = ['src/gateway.js', 'accounts', 'show', 'a', '--url', `http://127.0.0.1:${port}`];
    const env = { ...process.env, ADMIN_TOKEN: 'a-token-of-operators-for-this-test' };
    await expect(run(process.execPath, line, { cwd: project, env })).rejects.toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no\\u001b[2J\\u202eway'),
    });
  });

  it('shows the help of a subcommand', async () => {
    const { stdout } = await run(process.execPath, ['src/gateway.js', 'config', '--help'], { cwd: project });
    expect(stdout).toMatch(/^ {2}check +\S/m);
  });

  it('ends silently when the reader of its output has left', async () => {
    const example = readFileSync(join(project, 'gateway.example.yaml'), 'utf8');
    const keys = [...example.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, 'x']);
    const child = spawn(process.execPath, ['src/gateway.js', 'config', 'check'], {
      cwd: project,
      env: { GATEWAY_CONFIG: 'gateway.example.yaml', ...Object.fromEntries(keys) },
    });
    child.stdout.destroy();
    let complaints = '';
    child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(complaints).toBe('');
  });

  it('does not import local mode', () => {
    const commands = readFileSync(join(project, 'src/cli.ts'), 'utf8');
    const all = [...commands.matchAll(/import\('(\.[^']+)'\)/g)].map(([, name = '']) => join('src', name));
    const reached = new Set(all.flatMap((file) => [file, ...loadedBy(file)]));
    expect([...reached].filter((name) => name.startsWith('src/local'))).toEqual([]);
    expect(reached).toContain('src/config/local-mode.ts');
  });
});

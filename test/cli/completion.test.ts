import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addOperatorCommands } from '../../src/cli/commands.ts';
import type { CliContext } from '../../src/cli/context.ts';
import { createProgram, verbs } from '../../src/cli/program.js';
import { operatorActions } from '../../src/operating/acts.ts';
import { taskStatuses } from '../../src/task/task.ts';

let directory: string;
beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), 'mediary-completion-'))));
afterAll(() => rm(directory, { recursive: true }));

async function script(shell: string): Promise<string> {
  let text = '';
  const program = createProgram();
  const context = { print: (part: string) => void (text += part) } as CliContext;
  await addOperatorCommands(program, context, ['completion', shell]);
  await program.parseAsync(['node', 'gateway', 'completion', shell]);
  const file = join(directory, `gateway.${shell}`);
  await writeFile(file, text);
  return file;
}

const run = async (shell: string, line: readonly string[]) =>
  (await promisify(execFile)(shell, line)).stdout.split('\n').filter((word) => word !== '');

const shells: Record<string, (words: readonly string[]) => Promise<string[]>> = {
  async bash(words) {
    const typed = ['gateway', ...words].map((word) => `'${word}'`).join(' ');
    const code = `source ${await script('bash')}; COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _gateway; printf '%s\n' "\${COMPREPLY[@]}"`;
    return run('bash', ['--norc', '-c', code]);
  },
  async zsh(words) {
    const typed = ['gateway', ...words].map((word) => `'${word}'`).join(' ');
    // zsh allows compadd only while a line is being edited, so replace it.
    const code = `compdef() { }; source ${await script('zsh')}; compadd() { shift; print -l -- "$@" }; words=(${typed}); CURRENT=$#words; _gateway`;
    const begun = words.at(-1) ?? '';
    return (await run('zsh', ['-f', '-c', code])).filter((word) => word.startsWith(begun));
  },
  async fish(words) {
    const code = `source ${await script('fish')}; complete -C "gateway ${words.join(' ')}"`;
    return run('fish', ['--no-config', '-c', code]);
  },
};

describe.each(Object.entries(shells))('%s', (shell, offered) => {
  const isHere = spawnSync(shell, ['-c', 'true']).status === 0;

  it.skipIf(!isHere)('completes commands, options, and their values', async () => {
    expect(await offered([''])).toEqual(expect.arrayContaining([...verbs]));
    expect(await offered(['ta'])).toEqual(['tasks']);
    expect((await offered(['tasks', ''])).filter((word) => !word.startsWith('-')).toSorted()).toEqual([
      'action',
      'export',
      'list',
      'show',
    ]);
    expect(await offered(['tasks', 'list', '--needs'])).toEqual(['--needs-attention']);
    expect(await offered(['tasks', 'list', '--status', ''])).toEqual(
      shell === 'fish' ? [...taskStatuses].toSorted() : [...taskStatuses],
    );
    expect(await offered(['tasks', 'list', '-o', 'js'])).toEqual(['json', 'jsonl']);
    expect(await offered(['tasks', 'list', '--account', ''])).toEqual([]);
    const acts = await offered(['tasks', 'act', 'task_1', '']);
    expect(acts).toEqual(expect.arrayContaining([...operatorActions]));
  });
});

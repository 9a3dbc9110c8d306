import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { onTestFinished } from 'vitest';
import { loadsTypeScript } from '../../../support/typescript.ts';

export async function runProgram(
  program: URL,
  ...args: string[]
): Promise<{ child: ChildProcess; line: string; kill: () => Promise<void> }> {
  const child = spawn(process.execPath, [...loadsTypeScript, fileURLToPath(program), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  };
  onTestFinished(kill);
  const [chunk] = await once(child.stdout, 'data');
  return { child, line: String(chunk).trim(), kill };
}

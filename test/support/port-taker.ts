import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** Takes the port that a program was started for before the program can bind it, the first time only. */
export interface PortTaker {
  readonly taken: readonly number[];
  /** The same program, which asks for its port to be taken before it runs. */
  before(program: string): Promise<string>;
  /** NODE_OPTIONS with which a Node process does so, if its arguments or its PORT name a port. */
  readonly nodeOptions: string;
}

/**
 * The port is, of these, the first that there is: the argument after `--port`; PORT of an API; the last argument, if it is
 * a number.
 */
const asking = `
const words = process.argv.slice(1);
const port = words.includes('--port')
  ? words[words.indexOf('--port') + 1]
  : words.includes('api') ? process.env.PORT : words.at(-1);
if (/^\\d+$/.test(port ?? '')) await fetch(TAKER, { method: 'POST', body: port });
`;

export async function startPortTaker(): Promise<PortTaker> {
  const directory = await mkdtemp(join(tmpdir(), 'mediary-port-taker-'));
  const taken: number[] = [];
  const takers: Server[] = [];
  const control = createHttpServer((request, response) => {
    void text(request).then(async (port) => {
      if (taken.length === 0) {
        taken.push(Number(port));
        // It accepts, and never says a word.
        const taker = createServer().listen(Number(port), '127.0.0.1');
        takers.push(taker);
        await once(taker, 'listening');
      }
      response.end();
    });
  });
  control.listen(0, '127.0.0.1');
  await once(control, 'listening');
  onTestFinished(async () => {
    for (const server of [control, ...takers]) server.close();
    await rm(directory, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${(control.address() as AddressInfo).port}`;
  const script = join(directory, 'ask.mjs');
  await writeFile(script, asking.replace('TAKER', `'${url}'`));
  return {
    taken,
    async before(program) {
      const wrapper = join(directory, 'program');
      await writeFile(wrapper, `#!/bin/sh\n'${process.execPath}' '${script}' "$@"\nexec '${program}' "$@"\n`);
      await chmod(wrapper, 0o700);
      return wrapper;
    },
    nodeOptions: `--import=${script}`,
  };
}

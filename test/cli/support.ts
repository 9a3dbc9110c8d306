import { addOperatorCommands } from '../../src/cli/commands.ts';
import { createProgram } from '../../src/cli/program.js';
import type { Terminal } from '../../src/cli/terminal.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { adminToken } from '../support/http-world.ts';

export interface LineChange {
  readonly url?: string;
  readonly token?: string;
  readonly terminal?: Terminal;
}

export async function runPlanned(
  world: { readonly url: string },
  line: readonly string[],
  change: LineChange = {},
): Promise<{ text: string; status: number }> {
  for (;;) {
    const tried = JSON.parse((await runLine(world, [...line, '--dry-run', '-o', 'json'], change)).text);
    try {
      return await runLine(world, [...line, '--plan', tried.plan ?? tried.result.plan], change);
    } catch (error) {
      if (!String(error).includes('The plan no longer applies')) throw error;
    }
  }
}

export async function runLine(
  world: { readonly url: string },
  line: readonly string[],
  change: LineChange = {},
): Promise<{ text: string; status: number; warned: readonly string[] }> {
  const printed: string[] = [];
  const warned: string[] = [];
  let status = 0;
  const program = createProgram().exitOverride();
  for (const one of [program, ...program.commands])
    one.configureOutput({ writeErr: () => {}, writeOut: () => {} });
  const context = {
    print: (text: string) => printed.push(text),
    warn: (text: string) => warned.push(text),
    isTerminal: false,
    isColoured: false,
    now: Date.now,
    environment: () =>
      readEnvironment({ PUBLIC_URL: change.url ?? world.url, ADMIN_TOKEN: change.token ?? adminToken }),
    loadConfig: () => ({
      file: 'gateway.yaml',
      config: parseGatewayConfig(
        'currency: USD\nchannels: [{id: a, provider: p, base_url: "http://x.example", credentials: [{id: c, api_key: k}], models: {}}]\nmodels: [{id: m, kind: video, price: {lines: [{ measure: call, price: "1"}]}}]',
        'x',
        { environment: {}, providerNames: ['p'] },
      ),
    }),
    loadProviders: async () => (await import('../../src/providers/index.ts')).providers,
    rotateSecrets: () => Promise.reject(new Error('test/cli/rotate-secrets.test.ts runs it')),
    acceptClock: () => Promise.reject(new Error('test/store/database-clock.test.ts runs it')),
    diagnose: () => Promise.reject(new Error('test/cli/doctor.test.ts runs it')),
    ...(change.terminal === undefined ? {} : { terminal: change.terminal }),
    fail: (code: number) => {
      status = code;
    },
  };
  await addOperatorCommands(program, context, line);
  for (const command of program.commands)
    command.exitOverride().commands.forEach((sub) => sub.exitOverride());
  await program.parseAsync(['node', 'gateway', ...line]);
  return { text: printed.join('\n'), status, warned };
}

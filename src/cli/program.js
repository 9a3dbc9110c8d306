import { Command } from 'commander';

/** Verbs of the operators. Those of a group are loaded only when its name is on the line. */
export const groups = {
  accounts: 'Accounts and their money.',
  keys: 'API keys.',
  operators: 'Who may use the operators’ API, under which name.',
  tasks: 'Tasks of all accounts.',
  ledger: 'The accounts’ ledger.',
  secrets: 'The keys of SECRETS_KEY.',
  channels: 'Channels of the running configuration.',
  route: 'How requests find their channel.',
  config: 'The configuration.',
  nodes: 'The processes of the gateway: what each runs, and how it is.',
  vendors: 'What the adapters know of the vendors.',
};

const processes = {
  api: 'Serve HTTP on HOST and PORT.',
  worker: 'Run the Temporal workers.',
};

/** Every word that a line must contain to do more than show help. */
export const verbs = new Set([...Object.keys(processes), ...Object.keys(groups)]);

/**
 * The command line as `--help` shows it; the groups' verbs are added by `commands.ts`. Plain JavaScript, because
 * `src/gateway.js` needs it before anything is there that could load TypeScript.
 *
 * @param {Partial<Record<keyof typeof processes, () => Promise<void>>>} run What starts the processes; absent for help.
 */
export function createProgram(run = {}) {
  const program = new Command('gateway')
    .description('Mediary: one address for video and image generation.')
    .option(
      '--url <url>',
      'the gateway to call (default: PUBLIC_URL, else local mode’s, else http://HOST:PORT)',
    )
    .option('--json', 'print what the gateway answered, as JSON');
  const api = program.command('api').description(processes.api);
  const worker = program.command('worker').description(processes.worker);
  if (run.api !== undefined) api.action(run.api);
  if (run.worker !== undefined) worker.action(run.worker);
  for (const [name, description] of Object.entries(groups)) program.command(name).description(description);
  return program;
}

import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';

/** Verbs of the operators. Those of a group are loaded only when its name is on the line. */
export const groups = {
  accounts: { about: 'Accounts and their money.', example: 'accounts list' },
  keys: { about: 'API keys.', example: 'keys list --account acme' },
  operators: {
    about: 'Who may use the operators’ API, under which name.',
    example: 'operators list',
  },
  tasks: { about: 'Tasks of all accounts.', example: 'tasks list --needs-attention' },
  audit: {
    about: 'What operators did, when, why and from where.',
    example: 'audit --since 24h --by anna',
  },
  find: {
    about: 'Finds what an id belongs to.',
    example: 'find mediary-07q1kgxxoh7lbzndepc5zxkg-1',
  },
  usage: {
    about: 'What accounts have used, by day, model, key or end user.',
    example: 'usage --by account,model',
  },
  ledger: { about: 'The accounts’ ledger.', example: 'ledger show acme' },
  margin: {
    about: 'What tasks earned, less what they cost upstream.',
    example: 'margin --from 2026-11-01 --by channel',
  },
  reconcile: {
    about: 'Compares an upstream’s bill with what is recorded.',
    example: 'reconcile --bill october.csv --format FORMAT --channel CHANNEL',
  },
  secrets: { about: 'The keys of SECRETS_KEY.', example: 'secrets rotate' },
  channels: { about: 'Channels of the running configuration.', example: 'channels list' },
  notices: {
    about: 'What operators are notified of.',
    example: 'notices list',
  },
  route: { about: 'How requests find their channel.', example: 'route explain clip-1' },
  price: { about: 'How holds and charges come about.', example: 'price explain clip-1' },
  prices: { about: 'What other prices would change.', example: 'prices try new.yaml --since 7d' },
  config: { about: 'The configuration.', example: 'config check' },
  nodes: { about: 'The processes of the gateway: what each runs, and how it is.', example: 'nodes' },
  completion: {
    about: 'Prints what a shell completes this command line with.',
    example: 'completion bash',
  },
  vendors: { about: 'What the adapters know of the vendors.', example: 'vendors show VENDOR' },
};

const processes = {
  api: { about: 'Serve HTTP on HOST and PORT.', example: 'api' },
  worker: { about: 'Run the Temporal workers.', example: 'worker' },
};

/** Every word that a line must contain to do more than show help. */
export const verbs = new Set([...Object.keys(processes), ...Object.keys(groups)]);

/** How a line ends. */
export const exitStatuses = {
  done: { status: 0, about: 'done' },
  failed: { status: 1, about: 'failed, or not everything was done or found in order' },
  usage: { status: 2, about: 'the line itself is wrong' },
  refused: { status: 3, about: 'the gateway refuses it' },
  not_found: { status: 4, about: 'what the line names does not exist' },
  not_reachable: { status: 5, about: 'the gateway, or a server that it needs, does not answer' },
  configuration: { status: 78, about: 'the environment or gateway.yaml is wrong' },
};

const statusLines = Object.values(exitStatuses).map(
  ({ status, about }) => `  ${String(status).padEnd(2)}  ${about}`,
);

/**
 * What the help of a command ends with: lines that work as they stand, but for names.
 *
 * @param {readonly string[]} lines Each without the program's name.
 */
export function examples(...lines) {
  return `\nExample:\n${lines.map((line) => `  gateway ${line}`).join('\n')}`;
}

/**
 * The command line as `--help` shows it; the groups' verbs are added by `commands.ts`. Plain JavaScript, because
 * `src/gateway.js` needs it before anything is there that could load TypeScript.
 *
 * @param {Partial<Record<keyof typeof processes, () => Promise<void>>>} run What starts the processes; absent for help.
 */
export function createProgram(run = {}) {
  const program = new Command('gateway')
    .description('Mediary: one address for video and image generation.')
    .version(readVersion(), '-V, --version', 'print the version')
    .option(
      '--url <url>',
      'the gateway to call (default: PUBLIC_URL, else local mode’s, else http://HOST:PORT)',
    )
    .addOption(
      new Option('-o, --output <form>', 'of what is printed; json: what the gateway answered')
        .choices(['table', 'wide', 'json', 'jsonl'])
        .default('table'),
    )
    .option('-w, --watch', 'of what lists or shows something: again every two seconds, until Ctrl-C')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : exitStatuses.usage.status))
    .addHelpText('after', examples('tasks list --needs-attention', 'tasks action --help'))
    .addHelpText('after', `\nExit status:\n${statusLines.join('\n')}`);
  for (const [name, { about, example }] of Object.entries({ ...processes, ...groups }))
    program.command(name).description(about).addHelpText('after', examples(example));
  for (const command of program.commands) {
    const start = run[/** @type {keyof typeof processes} */ (command.name())];
    if (start !== undefined) command.action(start);
  }
  return program;
}

export function readVersion() {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return /"version": "(.*)"/.exec(text)?.[1] ?? '';
}

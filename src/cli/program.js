import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';

/** A group's module is loaded only if the command line mentions the group. */
export const groups = {
  accounts: { about: 'Manages accounts and their money.', example: 'accounts list' },
  keys: { about: 'Manages API keys.', example: 'keys list --account acme' },
  operators: {
    about: 'Manages the operators who may use the operators’ API.',
    example: 'operators list',
  },
  sessions: { about: 'Lists and ends console sessions.', example: 'sessions list' },
  tasks: { about: 'Shows tasks of all accounts, and acts on them.', example: 'tasks list --needs-attention' },
  audit: {
    about: 'Lists what operators did, when, why and from where.',
    example: 'audit --since 24h --by anna',
  },
  find: {
    about: 'Finds what an id refers to.',
    example: 'find mediary-07q1kgxxoh7lbzndepc5zxkg-1',
  },
  usage: {
    about: 'Shows the usage of accounts by day, model, key or end user.',
    example: 'usage --by account,model',
  },
  ledger: { about: 'Shows and verifies the accounts’ ledger.', example: 'ledger show acme' },
  margin: {
    about: 'Shows margins: charges minus refunds and upstream costs.',
    example: 'margin --from 2026-11-01 --by channel',
  },
  reconcile: {
    about: 'Compares an upstream’s bill with the records.',
    example:
      'reconcile --bill october.csv --format mapped --channel main --unit USD --column job=id --column amount=cost --column at=time',
  },
  secrets: { about: 'Reseals stored values with the first key of SECRETS_KEY.', example: 'secrets rotate' },
  channels: {
    about: 'Shows and controls the channels of the running configuration.',
    example: 'channels list',
  },
  notices: {
    about: 'Lists the notices for operators, and tests their delivery.',
    example: 'notices list',
  },
  route: { about: 'Explains the choice of channels for a request.', example: 'route explain clip-1' },
  price: { about: 'Explains holds and charges.', example: 'price explain clip-1' },
  prices: { about: 'Shows the effect of different prices.', example: 'prices try new.yaml --since 7d' },
  doctor: {
    about: 'Checks the configuration and the servers that the gateway needs.',
    example: 'doctor',
  },
  config: { about: 'Checks and changes the configuration.', example: 'config check' },
  nodes: {
    about: 'Lists the gateway’s processes with their configuration and state.',
    example: 'nodes',
  },
  completion: {
    about: 'Prints a completion script for a shell.',
    example: 'completion bash',
  },
  vendors: { about: 'Shows the adapters’ facts about vendors.', example: 'vendors show VENDOR' },
};

const processes = {
  api: { about: 'Serves HTTP on HOST and PORT.', example: 'api' },
  worker: { about: 'Runs the Temporal workers.', example: 'worker' },
};

/** A command line without any of these words can only print help. */
export const verbs = new Set([...Object.keys(processes), ...Object.keys(groups)]);

export const exitStatuses = {
  done: { status: 0, about: 'done' },
  failed: { status: 1, about: 'the command failed, was only partly done, or found problems' },
  usage: { status: 2, about: 'the command line itself is wrong' },
  refused: { status: 3, about: 'the gateway rejects the request' },
  not_found: { status: 4, about: 'something named on the command line does not exist' },
  not_reachable: { status: 5, about: 'the gateway, or a server that it needs, does not respond' },
  configuration: { status: 78, about: 'the environment or gateway.yaml is wrong' },
};

const statusLines = Object.values(exitStatuses).map(
  ({ status, about }) => `  ${String(status).padEnd(2)}  ${about}`,
);

/**
 * Apart from the names, each example must work as printed.
 * @param {readonly string[]} lines Without the program's name.
 */
export function examples(...lines) {
  return `\nExample:\n${lines.map((line) => `  gateway ${line}`).join('\n')}`;
}

/**
 * The program that `--help` describes. `commands.ts` adds the commands of each group. This is JavaScript, because
 * `src/gateway.js` runs it before TypeScript can be loaded.
 * @param {Partial<Record<keyof typeof processes, () => Promise<void>>>} run Starts the processes. Not needed to print
 * help.
 */
export function createProgram(run = {}) {
  const program = new Command('gateway')
    .description('Mediary: one API for video and image generation.')
    .version(readVersion(), '-V, --version', 'print the version')
    .option(
      '--url <url>',
      'the gateway to call (default: PUBLIC_URL, else local mode’s URL, else http://HOST:PORT)',
    )
    .addOption(
      new Option(
        '-o, --output <form>',
        'how to print results; json prints the gateway’s response, or the rows of a list',
      )
        .choices(['table', 'wide', 'json', 'jsonl'])
        .default('table'),
    )
    .option('-w, --watch', 'repeat a list or show command every two seconds until Ctrl-C')
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

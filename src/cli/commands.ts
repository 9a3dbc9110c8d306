import type { Command } from 'commander';
import type { CliContext } from './context.ts';

interface Group {
  readonly name: string;
  readonly description: string;
  readonly load: () => Promise<(group: Command, context: CliContext) => void>;
}

/** The verbs of a group are loaded only when its name is on the line: `--help` needs no more than this table. */
const groups: readonly Group[] = [
  {
    name: 'accounts',
    description: 'Accounts and their money.',
    load: async () => (await import('./accounts.ts')).addAccountCommands,
  },
  {
    name: 'keys',
    description: 'API keys.',
    load: async () => (await import('./keys.ts')).addKeyCommands,
  },
  {
    name: 'tasks',
    description: 'Tasks of all accounts.',
    load: async () => (await import('./tasks.ts')).addTaskCommands,
  },
  {
    name: 'ledger',
    description: 'The accounts’ ledger.',
    load: async () => (await import('./ledger.ts')).addLedgerCommands,
  },
  {
    name: 'channels',
    description: 'Channels of the running configuration.',
    load: async () => (await import('./channels.ts')).addChannelCommands,
  },
  {
    name: 'route',
    description: 'How requests find their channel.',
    load: async () => (await import('./route.ts')).addRouteCommands,
  },
  {
    name: 'config',
    description: 'The configuration.',
    load: async () => (await import('./config.ts')).addConfigCommands,
  },
  {
    name: 'projection',
    description: 'The task documents that GET reads.',
    load: async () => (await import('./projection.ts')).addProjectionCommands,
  },
];

/**
 * The operators' verbs: calls of the operators' API, except `config check`, `ledger verify` and `projection rebuild`.
 * `line`: what was typed behind the program's name.
 */
export async function addOperatorCommands(
  program: Command,
  context: CliContext,
  line: readonly string[],
): Promise<void> {
  addCommonOptions(program);
  for (const { name, description, load } of groups) {
    const group = program.command(name).description(description);
    if (line.includes(name)) (await load())(group, context);
  }
}

/** Options of the whole program, wherever on the line they stand. */
function addCommonOptions(program: Command): void {
  program
    .option(
      '--url <url>',
      'the gateway to call (default: PUBLIC_URL, else local mode’s, else http://HOST:PORT)',
    )
    .option('--json', 'print what the gateway answered, as JSON');
}

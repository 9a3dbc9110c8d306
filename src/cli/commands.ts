import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import type { groups } from './program.js';

type Load = () => Promise<(group: Command, context: CliContext) => void>;

const loaders: Readonly<Record<keyof typeof groups, Load>> = {
  accounts: async () => (await import('./accounts.ts')).addAccountCommands,
  keys: async () => (await import('./keys.ts')).addKeyCommands,
  operators: async () => (await import('./operators.ts')).addOperatorsCommands,
  sessions: async () => (await import('./sessions.ts')).addSessionCommands,
  tasks: async () => (await import('./tasks.ts')).addTaskCommands,
  find: async () => (await import('./find.ts')).addFindCommand,
  audit: async () => (await import('./audit.ts')).addAuditCommands,
  usage: async () => (await import('./sums.ts')).addSums('usage'),
  ledger: async () => (await import('./ledger.ts')).addLedgerCommands,
  margin: async () => (await import('./sums.ts')).addSums('margin'),
  reconcile: async () => (await import('./reconcile.ts')).addReconcileCommand,
  secrets: async () => (await import('./secrets.ts')).addSecretCommands,
  channels: async () => (await import('./channels.ts')).addChannelCommands,
  notices: async () => (await import('./notices.ts')).addNoticeCommands,
  route: async () => (await import('./route.ts')).addRouteCommands,
  price: async () => (await import('./price.ts')).addPriceCommands,
  prices: async () => (await import('./prices.ts')).addPricesCommands,
  completion: async () => (await import('./completion.ts')).addCompletionCommand,
  doctor: async () => (await import('./doctor.ts')).addDoctorCommand,
  config: async () => (await import('./config.ts')).addConfigCommands,
  nodes: async () => (await import('./nodes.ts')).addNodesCommand,
  vendors: async () => (await import('./vendors.ts')).addVendorCommands,
};

/**
 * Loads only the groups mentioned in `line`, the command-line arguments. All commands call the operators' API, except
 * `doctor`, `config check`, `vendors show`, `vendors test`, `ledger accept-clock`, `secrets rotate` and `completion`.
 */
export async function addOperatorCommands(
  program: Command,
  context: CliContext,
  line: readonly string[],
): Promise<void> {
  for (const [name, load] of Object.entries(loaders)) {
    const group = program.commands.find((command) => command.name() === name);
    const isNamed = line.includes(name) || line.includes('completion');
    if (group !== undefined && isNamed) (await load())(group, context);
  }
}

import { InvalidArgumentError, type Command } from 'commander';

const windows = ['day', 'month', 'total'] as const;
type Caps = { readonly [Window in (typeof windows)[number]]?: string };

type NamedCaps = Caps & { readonly name: string };

export interface CapsOptions extends Caps {
  readonly model?: readonly NamedCaps[];
  readonly user?: readonly NamedCaps[];
}

export function addCapsOptions(command: Command, part: 'model' | 'user'): Command {
  return command
    .option('--day <amount>', 'per UTC day; 0 allows nothing (default: no cap)')
    .option('--month <amount>', 'per calendar month (default: no cap)')
    .option('--total <amount>', 'in total (default: no cap)')
    .option(
      `--${part} <caps>`,
      `caps of one ${part}, such as name:day=5,month=20; may be repeated`,
      (text: string, before: readonly NamedCaps[] | undefined) => [...(before ?? []), parsePart(text)],
    );
}

function parsePart(text: string): NamedCaps {
  const colon = text.lastIndexOf(':');
  const pairs = text
    .slice(colon + 1)
    .split(',')
    .map((pair) => /^(?<window>day|month|total)=(?<amount>\d+(?:\.\d+)?)$/.exec(pair)?.groups);
  if (colon < 1 || pairs.includes(undefined)) {
    throw new InvalidArgumentError('It must be a name and its caps, such as name:day=5,month=20.');
  }
  const entries = windows.flatMap((window) => {
    const amount = pairs.find((pair) => pair?.['window'] === window)?.['amount'];
    return amount === undefined ? [] : [[window, amount] as const];
  });
  return { name: text.slice(0, colon), ...Object.fromEntries(entries) };
}

export function keyCapsOf({ day, month, total, model = [] }: CapsOptions) {
  return { day, month, total, models: model.map(({ name, ...own }) => ({ model: name, ...own })) };
}

import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';

const windows = ['day', 'month', 'total'] as const;
type Caps = { readonly [Window in (typeof windows)[number]]?: string };

type NamedCaps = Caps & { readonly name: string };

export interface CapsOptions extends Caps {
  readonly reason: string;
  readonly model?: readonly NamedCaps[];
  readonly user?: readonly NamedCaps[];
}

/** @param part - What has caps of its own: a model, or an end user. */
export function addCapsOptions(command: Command, part: 'model' | 'user'): Command {
  return command
    .requiredOption('--reason <text>')
    .option('--day <amount>', 'in a UTC day; 0: nothing (default: no cap)')
    .option('--month <amount>', 'in a calendar month (default: no cap)')
    .option('--total <amount>', 'for ever (default: no cap)')
    .option(
      `--${part} <caps>`,
      `of one ${part}, such as name:day=5,month=20; may be repeated`,
      (text: string, before: readonly NamedCaps[] | undefined) => [...(before ?? []), parsePart(text)],
    );
}

/** `clip-1:day=5,total=100` */
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

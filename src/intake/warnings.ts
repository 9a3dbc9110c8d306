import { GatewayError } from '../errors/errors.ts';

/** The warning starts with the field that has no effect, for example `size: overruled by resolution and ratio`. */
export function overruled(field: string, winners: readonly string[]): string {
  return `${field}: overruled by ${winners.join(' and ')}`;
}

export function refuseUnread([first]: readonly string[]): void {
  if (first === undefined) return;
  const [param = first, reason] = first.split(': ');
  const why = reason === undefined ? '' : ` (${reason})`;
  throw new GatewayError(
    'unsupported_parameter',
    `The parameter ${param} has no effect${why}, and the request or its API key is strict. Remove it.`,
    { param },
  );
}

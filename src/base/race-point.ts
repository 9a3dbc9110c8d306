export type RacePoint =
  | 'admission.claimed'
  | 'admission.held'
  | 'admission.started'
  | 'ledger.append'
  | 'submit.begun'
  | 'submit.answered'
  | 'submit.accepted'
  | 'poll.failed'
  | 'poll.closed'
  | 'finish.closed'
  | 'callback.begun'
  | 'alert.cross'
  | 'retention.marked'
  | 'deletion.page'
  | 'deletion.finishing'
  | 'audit.acted'
  | 'lease.renew'
  | 'slots.take'
  | 'slots.queue'
  | 'runtime.install';

type RaceHook = (point: RacePoint, subject: string) => Promise<void> | undefined;

let hook: RaceHook | undefined;

export function onRacePoint(next: RaceHook | undefined): void {
  hook = next;
}

/** Calls the hook, if there is one. Otherwise returns undefined, which saves the cost of a promise. */
export function racePoint(point: RacePoint, subject: string): Promise<void> | undefined {
  return hook?.(point, subject);
}

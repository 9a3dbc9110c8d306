/** The places where two processes meet: between these names a test can stop one of them and let the other pass. */
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

/** Tests only: called at every race point of this process, with the id of what it concerns. */
export function onRacePoint(next: RaceHook | undefined): void {
  hook = next;
}

/** Nothing, unless a test has set a hook: undefined is not worth a promise. */
export function racePoint(point: RacePoint, subject: string): Promise<void> | undefined {
  return hook?.(point, subject);
}

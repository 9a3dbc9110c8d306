import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterRunning } from '../process/running-time.ts';

/** A peer that closes a connection with an unread response resets it within this many milliseconds, if at all. */
const resetWindowMs = 3_000;

export interface LostAnswers {
  /**
   * Call this when a request begins. The connection's previous response is no longer watched, because a later reset
   * does not concern it.
   */
  begin(request: IncomingMessage): void;
  /**
   * Runs the work, at most once, if the connection ends before the response is written or is reset right afterwards.
   */
  watch(response: ServerResponse, work: () => void): void;
}

/** Detects responses that did not reach the caller, as far as this end of the connection can know. */
export function createLostAnswers(): LostAnswers {
  const watched = new WeakMap<Socket, () => void>();

  function watchReset(socket: Socket, work: () => void): void {
    if (socket.errored !== null) return work();
    const stop = (): void => {
      cancel();
      socket.off('close', closed);
      watched.delete(socket);
    };
    const closed = (hadError: boolean): void => {
      stop();
      if (hadError) work();
    };
    const cancel = afterRunning(resetWindowMs, stop);
    socket.once('close', closed);
    watched.set(socket, stop);
  }

  return {
    begin: ({ socket }) => watched.get(socket)?.(),
    watch(response, work) {
      const { socket } = response.req;
      const ended = (): void => (response.writableFinished ? watchReset(socket, work) : work());
      if (response.closed || response.destroyed) ended();
      else response.once('close', ended);
    },
  };
}

/** Aborts once the response is closed, which may already have happened during authentication. */
export function closedSignal(response: ServerResponse): AbortSignal {
  const hangUp = new AbortController();
  if (response.closed || response.destroyed) hangUp.abort();
  else response.once('close', () => hangUp.abort());
  return hangUp.signal;
}

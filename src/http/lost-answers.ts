import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A peer that closes a connection with an unread answer resets it: no later than this, if at all. */
const resetWindowMs = 1_000;

export interface LostAnswers {
  /**
   * Call this when a request begins. A reset from now on says nothing about the previous answer on the connection, so
   * that one is no longer watched.
   */
  begin(request: IncomingMessage): void;
  /** Runs the work, at most once, when the connection ends before the answer is written, or is reset right after. */
  watch(response: ServerResponse, work: () => void): void;
}

/** Notices answers that did not reach their caller, as far as this side of the connection knows. */
export function createLostAnswers(): LostAnswers {
  const watched = new WeakMap<Socket, () => void>();

  function watchReset(socket: Socket, work: () => void): void {
    if (socket.errored !== null) return work();
    const stop = (): void => {
      clearTimeout(timer);
      socket.off('close', closed);
      watched.delete(socket);
    };
    const closed = (hadError: boolean): void => {
      stop();
      if (hadError) work();
    };
    const timer = setTimeout(stop, resetWindowMs).unref();
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

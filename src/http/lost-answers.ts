import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterRunning } from '../process/running-time.ts';

/** If a peer closes the connection without reading the response, the reset arrives within this time. */
const resetWindowMs = 3_000;

export interface LostAnswers {
  /** Call this when a request begins. From then on, a reset no longer concerns the previous response. */
  begin(request: IncomingMessage): void;
  /** Runs `work` once if the connection closes before the response is written or is reset shortly afterwards. */
  watch(response: ServerResponse, work: () => void): void;
}

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

export function closedSignal(response: ServerResponse): AbortSignal {
  const hangUp = new AbortController();
  if (response.closed || response.destroyed) hangUp.abort();
  else response.once('close', () => hangUp.abort());
  return hangUp.signal;
}

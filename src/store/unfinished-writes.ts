import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

interface DriverConnection {
  readonly socket: Socket;
  readonly closed: boolean;
  cleanup: (this: DriverConnection, error: Error) => void;
}

interface DriverModule {
  readonly Connection: { readonly prototype: DriverConnection };
}

let isDone = false;

/**
 * Works around a fault in the driver (7.8 and 7.9): a write to a closing connection waits for the socket's `drain` or
 * `error`, but a destroyed socket emits neither. If that write is a heartbeat, the process finds no server until it
 * restarts. With this patch, closing a connection raises an error in the waiting write
 * (docs/decisions/0015-processes.md).
 */
export function endUnfinishedWrites(): void {
  if (isDone) return;
  isDone = true;
  const driver: unknown = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js');
  if (!isDriver(driver))
    throw new Error('This version of the MongoDB driver does not expose its connections.');
  const connection = driver.Connection.prototype;
  const { cleanup } = connection;
  connection.cleanup = function (this: DriverConnection, error: Error): void {
    const wasOpen = !this.closed;
    cleanup.call(this, error);
    if (wasOpen && this.socket.listenerCount('drain') > 0) this.socket.emit('error', error);
  };
}

function isDriver(loaded: unknown): loaded is DriverModule {
  if (typeof loaded !== 'object' || loaded === null || !('Connection' in loaded)) return false;
  const { Connection } = loaded;
  return typeof Connection === 'function' && 'cleanup' in Object(Connection.prototype);
}
